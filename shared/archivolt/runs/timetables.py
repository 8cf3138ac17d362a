"""What people do with schedules: make, read, change, pause and delete them.

Everybody has their own, and sees no other.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from archivolt.chat.requests import readable
from archivolt.domain.errors import (
    ConflictError,
    UnavailableError,
)
from archivolt.domain.identity import Principal
from archivolt.domain.language import Language
from archivolt.domain.schedule import Schedule, Timetable
from archivolt.domain.schedule_limits import MAX_SCHEDULES
from archivolt.domain.schedule_times import next_firing, require_timetable
from archivolt.observability import failure, logger
from archivolt.ports.schedules import ScheduleTimer
from archivolt.runs.permitting import Permissions
from archivolt.runs.requests import RunRequest
from archivolt.runs.scheduling import ID_DIGITS, asked_of, kept_with, recorded_of, require_person
from archivolt.runs.support import RunSupport


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleDraft:
    """A schedule as a person asks for it."""

    name: str
    request: RunRequest
    timetable: Timetable
    enabled: bool = True


class Timetables:
    """Schedules, as their owners see them.

    Args:
        on: What runs stand on.
        timer: Fires schedules.

    """

    def __init__(self, on: RunSupport, timer: ScheduleTimer) -> None:
        self.permissions = Permissions(on)
        self._on = on
        self._timer = timer

    def create(self, principal: Principal, draft: ScheduleDraft, language: Language) -> Schedule:
        """Make a schedule.

        Raises:
            InvalidRequestError: An empty goal; `schedule_expression`, `schedule_never`,
                `schedule_too_often`, `time_zone_unknown`.
            NotFoundError: `vault_not_found`.
            ConflictError: `schedules_too_many`.
            ForbiddenError: `person_required`; `chat_disabled`, `provider_not_allowed`.
            UnavailableError: It cannot be kept, or fired, now.

        """
        require_person(principal)
        if len(self._on.schedules.of_user(principal.tenant, principal.user)) >= MAX_SCHEDULES:
            raise ConflictError("schedules_too_many", limit=MAX_SCHEDULES)
        now = self._on.clock.now()
        new = Schedule(
            id=uuid.uuid4().hex[:ID_DIGITS],
            tenant=principal.tenant,
            owner=principal.user,
            name="",
            asked={},
            timetable=draft.timetable,
            language=language,
            created_at=now,
            changed_at=now,
        )
        schedule = self._as_asked(principal, new, draft)
        recorded_of(self._on, principal, "create", schedule)
        # The timer first: one whose schedule was never kept removes itself when it fires.
        self._timer.put(schedule)
        try:
            return self._on.schedules.create(schedule)
        except UnavailableError:
            self._timer_removed(schedule)
            raise

    def own(self, principal: Principal) -> list[Schedule]:
        """Return the caller's schedules, the oldest first."""
        found = self._on.schedules.of_user(principal.tenant, principal.user)
        return sorted(found, key=lambda each: (each.created_at, each.id))

    def read(self, principal: Principal, schedule_id: str) -> Schedule:
        """Return a schedule of the caller's.

        Raises:
            NotFoundError: `schedule_not_found`.

        """
        return self._on.schedules.get(principal.tenant, principal.user, schedule_id)

    def change(self, principal: Principal, schedule_id: str, draft: ScheduleDraft) -> Schedule:
        """Have a schedule be as a draft says; its permissions stay. Raises as `create`.

        Raises:
            NotFoundError: `schedule_not_found`.

        """
        require_person(principal)
        before = self.read(principal, schedule_id)
        wanted = self._as_asked(principal, before, draft)
        recorded_of(self._on, principal, "change", wanted)
        # First: what the timer does not take is not kept either.
        self._timer.put(wanted)
        return self._kept(
            principal, schedule_id, lambda each: self._as_asked(principal, each, draft)
        )

    def enable(self, principal: Principal, schedule_id: str, *, enabled: bool) -> Schedule:
        """Pause a schedule, or have it go on.

        Raises:
            NotFoundError: `schedule_not_found`.
            InvalidRequestError: `schedule_never`: its time is over.
            UnavailableError: It cannot be kept, or fired, now.

        """
        require_person(principal)
        now = self._on.clock.now()

        def as_told(schedule: Schedule) -> Schedule:
            if enabled:
                require_timetable(schedule.timetable, now=now)
            return replace(schedule, enabled=enabled, changed_at=now)

        wanted = as_told(self.read(principal, schedule_id))
        recorded_of(self._on, principal, "resume" if enabled else "pause", wanted)
        if enabled:
            # One that is kept as going on fires; what is paused fires nothing, timer or not.
            self._timer.put(wanted)
        return self._kept(principal, schedule_id, as_told)

    def delete(self, principal: Principal, schedule_id: str) -> None:
        """Remove a schedule with its permissions; runs that it started stay.

        Raises:
            NotFoundError: `schedule_not_found`.

        """
        require_person(principal)
        schedule = self.read(principal, schedule_id)
        recorded_of(self._on, principal, "delete", schedule)
        self._timer.remove(schedule.tenant, schedule.owner, schedule.id)
        self._on.schedules.delete(schedule)

    def next_firing(self, schedule: Schedule) -> datetime | None:
        """Return when a schedule fires next, None if it does not."""
        if not schedule.enabled:
            return None
        now = self._on.clock.now()
        return next_firing(schedule.timetable, after=now, since=schedule.created_at)

    def vault_names(self, principal: Principal) -> dict[str, str]:
        """Return the names of the caller's vaults, by their ids."""
        found = self._on.vaults.accessible(principal)
        return {each.vault.ref.id: each.vault.name for each in found}

    def _as_asked(self, principal: Principal, schedule: Schedule, draft: ScheduleDraft) -> Schedule:
        now = self._on.clock.now()
        require_timetable(draft.timetable, now=now)
        request = replace(draft.request, goal=readable(draft.request.goal), idempotency_key="")
        vaults = [self._on.vaults.access(principal, each).vault.ref.id for each in request.vaults]
        for place in request.places:
            self._on.vaults.access(principal, place.vault)
        self._on.models.select(principal, provider=request.provider, model=request.model)
        return replace(
            schedule,
            name=draft.name,
            asked=asked_of(replace(request, vaults=())),
            timetable=draft.timetable,
            vaults=tuple(dict.fromkeys(vaults)),
            enabled=draft.enabled,
            changed_at=now,
        )

    def _kept(
        self, principal: Principal, schedule_id: str, change: Callable[[Schedule], Schedule]
    ) -> Schedule:
        """Keep a change, and have the timer as it is kept: somebody may change it beside this."""
        kept = kept_with(self._on, principal, schedule_id, change)
        self._timer.put(kept)
        return kept

    def _timer_removed(self, schedule: Schedule) -> None:
        try:
            self._timer.remove(schedule.tenant, schedule.owner, schedule.id)
        except UnavailableError as error:
            logger.warning("a timer is left to remove itself", extra=failure(error))
