"""A schedule's time has come: its run is started as its owner, as they are at this moment.

A timer may tell it twice: the run is named after the schedule and the moment, so that it starts
once. Where no run is started, the schedule says why, and so does the audit log.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from archivolt.domain.audit import AuditEntry
from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnavailableError,
)
from archivolt.domain.identity import (
    Principal,
    Role,
    TenantId,
    TokenKind,
    TokenReach,
    UserId,
)
from archivolt.domain.run import RunId, scheduled_token
from archivolt.domain.schedule import Firing, FiringRef, Schedule
from archivolt.domain.schedule_times import is_once
from archivolt.domain.tenancy import Standing
from archivolt.domain.tool import Surface
from archivolt.observability import failure, logger
from archivolt.ports.schedules import ScheduleTimer
from archivolt.runs.scheduling import request_of
from archivolt.runs.starting import StartRun
from archivolt.runs.support import RunSupport, reached

_ROUNDS: Final = 8
STARTED: Final = "ok"
"""The outcome of a firing that started a run."""


class Firings:
    """Starts the runs of schedules.

    Args:
        on: What runs stand on.
        timer: Fires schedules.
        standing: Returns what is known of somebody who may come in, or refuses them.
        chat: Whether the deployment has its chat turned on (S6).

    """

    def __init__(
        self,
        on: RunSupport,
        timer: ScheduleTimer,
        standing: Callable[[TenantId, UserId], Standing],
        *,
        chat: bool,
    ) -> None:
        self._on = on
        self._timer = timer
        self._standing = standing
        self._chat = chat

    def fire(self, ref: FiringRef) -> str:
        """Start the run of a schedule, once a moment; return what came of it, as a code.

        Raises:
            UnavailableError, RateLimitedError: Tell it again.

        """
        try:
            schedule = self._on.schedules.get(ref.tenant, ref.user, ref.schedule)
        except NotFoundError as error:
            # It went with its owner, its vault, or by hand.
            self._timer.remove(ref.tenant, ref.user, ref.schedule)
            return error.code
        if not schedule.enabled:
            return "schedule_paused"
        if schedule.last is not None and schedule.last.answers(ref.due):
            return schedule.last.outcome
        try:
            firing = self._fired(schedule, ref)
        except (UnavailableError, RateLimitedError) as error:
            self._failed(schedule, ref, error)
            raise
        self._recorded(schedule, firing)
        self._noted(schedule, firing)
        return firing.outcome

    def _fired(self, schedule: Schedule, ref: FiringRef) -> Firing:
        now = self._on.clock.now()
        try:
            run = self._started(schedule, ref)
        except (UnavailableError, RateLimitedError):
            raise
        except ArchivoltError as error:
            before = _latest_run(schedule)
            return Firing(due=ref.due, at=now, outcome=error.code, before=before)
        return Firing(due=ref.due, at=now, outcome=STARTED, run=run)

    def _failed(self, schedule: Schedule, ref: FiringRef, error: ArchivoltError) -> None:
        """Note why nothing came of it yet, if that can be noted: it may never be tried again."""
        firing = Firing(
            due=ref.due,
            at=self._on.clock.now(),
            outcome=error.code,
            before=_latest_run(schedule),
            settled=False,
        )
        try:
            self._noted(schedule, firing)
        except ArchivoltError as beside:
            details = {"schedule": schedule.id, **failure(beside)}
            logger.warning("a failed firing is not noted", extra=details)

    def _started(self, schedule: Schedule, ref: FiringRef) -> RunId:
        if not self._chat:
            # Its routes are gone with the chat: nobody could pause the schedule.
            raise ForbiddenError("chat_disabled")
        caller = self._caller(schedule)
        self._require_rest(schedule)
        key = f"schedule/{schedule.id}/{ref.due}"
        request = replace(request_of(schedule), idempotency_key=key)
        return StartRun(self._on).start(caller, request, language=schedule.language).id

    def _caller(self, schedule: Schedule) -> Principal:
        """Return the owner with the role and the vaults of now.

        Raises:
            ForbiddenError: They may not come in.
            NotFoundError: `vault_not_found`: they lost one that it is for.

        """
        known = self._standing(schedule.tenant, schedule.owner).user
        caller = Principal(
            tenant=schedule.tenant,
            user=schedule.owner,
            role=known.role if known else Role.VIEWER,
            token_id=scheduled_token(schedule.id),
            kind=TokenKind.SCHEDULED,
        )
        if not schedule.vaults:
            return caller
        wanted = frozenset(schedule.vaults)
        if not wanted <= reached(self._on, caller):
            raise NotFoundError("vault_not_found", vault="")
        return replace(caller, reach=TokenReach(vaults=wanted))

    def _require_rest(self, schedule: Schedule) -> None:
        """Refuse a run beside the one of the time before.

        Raises:
            ConflictError: `schedule_busy`.

        """
        latest = _latest_run(schedule)
        if not latest:
            return
        try:
            before = self._on.store.get(schedule.tenant, RunId(latest))
        except NotFoundError:
            return
        if not before.status.over:
            raise ConflictError("schedule_busy")

    def _noted(self, schedule: Schedule, firing: Firing) -> None:
        """Keep what came of it; one that fires once is over."""
        fired = schedule.timetable
        for _ in range(_ROUNDS):
            is_over = firing.settled and is_once(fired) and schedule.timetable == fired
            enabled = schedule.enabled and not is_over
            try:
                self._on.schedules.save(replace(schedule, last=firing, enabled=enabled))
            except ConflictError:
                try:
                    schedule = self._on.schedules.get(schedule.tenant, schedule.owner, schedule.id)
                except NotFoundError:
                    return
            else:
                return
        raise UnavailableError("unavailable")

    def _recorded(self, schedule: Schedule, firing: Firing) -> None:
        principal = Principal(
            tenant=schedule.tenant,
            user=schedule.owner,
            role=Role.VIEWER,
            token_id=scheduled_token(schedule.id),
            kind=TokenKind.SCHEDULED,
        )
        details = {"schedule": schedule.id, "due": firing.due}
        self._on.audit.append(
            AuditEntry(
                principal=principal,
                action="schedule:fire",
                at=firing.at,
                outcome=firing.outcome,
                surface=Surface.IN_APP,
                milliseconds=0,
                details=details | ({"run": firing.run} if firing.run else {}),
            )
        )


def _latest_run(schedule: Schedule) -> str:
    return schedule.last.latest_run if schedule.last else ""
