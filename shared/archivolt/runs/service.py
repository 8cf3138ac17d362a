"""What people do with runs: read them, watch them, decide on their changes, cancel them.

The owner may everything, an administrator of the tenant read and cancel; to everybody else a run
does not exist, but for the changes of it that they could make themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from archivolt.chat.current_places import CurrentPlaces
from archivolt.domain.conversation import Message
from archivolt.domain.errors import ConflictError, ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.language import Language
from archivolt.domain.rights import may_reach_others
from archivolt.domain.run import ApprovalState, Run, RunApproval, RunEvent, RunId, RunStatus
from archivolt.domain.run_limits import RUN_QUIET_SECONDS
from archivolt.domain.tool import JsonObject
from archivolt.runs.ending import cancelled, settled, so_far_of
from archivolt.runs.requests import RunRequest
from archivolt.runs.resuming import resumed
from archivolt.runs.starting import StartRun
from archivolt.runs.support import RunSupport

# How often an end is tried to be kept while the run changes.
_ROUNDS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownApproval:
    """A change of a run as people see it who may decide on it."""

    approval: RunApproval
    tool_id: str
    arguments: JsonObject
    preview: JsonObject


class RunService:
    """Runs, as their owners see them; what they lead to is followed to where it is now."""

    def __init__(self, on: RunSupport, places: CurrentPlaces) -> None:
        self._on = on
        self._places = places
        self._start = StartRun(on)

    def start(self, principal: Principal, request: RunRequest, *, language: Language) -> Run:
        """Start a run, or return the one that this request started before.

        Raises:
            ArchivoltError: As `StartRun.start`.

        """
        return self._start.start(principal, request, language=language)

    def read(self, principal: Principal, run_id: str, *, to: str = "read_run") -> Run:
        """Return a run; one that is quiet for long is gone on with, should its engine have lost it.

        `to` is the operation that it is for, as `RIGHTS` has it.

        Raises:
            NotFoundError: `run_not_found`: absent, or another person's.

        """
        run = self._on.store.get(principal.tenant, RunId(run_id))
        if run.owner != principal.user and not may_reach_others(principal, to):
            raise NotFoundError("run_not_found")
        quiet = (self._on.clock.now() - run.updated_at).total_seconds() > RUN_QUIET_SECONDS
        works = run.status in {RunStatus.QUEUED, RunStatus.RUNNING}
        return resumed(self._on, run) if works and quiet else run

    def own(self, principal: Principal, run_id: str) -> Run:
        """Return a run of the caller's user that reaches no further than the caller's token.

        Raises:
            NotFoundError: `run_not_found`: there is none such.

        """
        run = self.read(principal, run_id)
        reach, its = principal.reach.vaults, run.principal.reach.vaults
        within = reach is None or (its is not None and its <= reach)
        if run.owner != principal.user or not within:
            raise NotFoundError("run_not_found")
        return run

    def page(
        self, principal: Principal, *, limit: int, after: str | None = None
    ) -> tuple[list[Run], str | None]:
        """Return the caller's own runs, last active first, and the next page's key.

        Raises:
            InvalidRequestError: `unknown_page`.

        """
        return self._on.store.of_user(principal.tenant, principal.user, limit=limit, after=after)

    def result(self, principal: Principal, run: Run) -> Message | None:
        """Return what a run brought, as the caller can open it; None if nothing so far."""
        kept = self._on.store.result(run)
        return kept and self._places.in_messages(principal, [kept])[0]

    def events(self, principal: Principal, run: Run, *, after: int, limit: int) -> list[RunEvent]:
        """Return the events of a run with higher numbers than `after`, in order."""
        events = self._on.store.events(run, after=after, limit=limit)
        now = self._places.of_uris(principal, (uri for each in events for uri in _uris(each)))
        return [_led(each, now) for each in events] if now else events

    def waiting(self, run: Run) -> list[ShownApproval]:
        """Return the changes of a run that wait for a person."""
        if run.status.over:
            return []
        found = self._on.store.approvals(run)
        now = self._on.clock.now()
        return [
            self.shown(run, each)
            for each in found
            if each.state is ApprovalState.PENDING and now < each.expires_at
        ]

    def shown(self, run: Run, approval: RunApproval) -> ShownApproval:
        """Return a change as people see it."""
        waiting = self._on.seals.opened_waiting(run, approval.id, approval.sealed)
        return ShownApproval(
            approval=approval,
            tool_id=waiting.call.id,
            arguments=waiting.call.arguments,
            preview=waiting.preview,
        )

    def cancel(self, principal: Principal, run_id: str, *, to: str = "cancel_run") -> Run:
        """End a run at once; what it is doing at this moment is finished. Twice is once.

        Raises:
            NotFoundError: `run_not_found`.
            ForbiddenError: `token_read_only`.
            ConflictError: `conflict`: it changes all the time; cancel it again.

        """
        run = self.read(principal, run_id, to=to)
        if principal.reach.read_only:
            raise ForbiddenError("token_read_only")
        for _ in range(_ROUNDS):
            try:
                return self._ended(principal, run)
            except ConflictError:
                # Its own step was faster.
                run = self._on.store.get(run.tenant, run.id)
        raise ConflictError("conflict")

    def _ended(self, principal: Principal, run: Run) -> Run:
        if not run.status.over:
            run = cancelled(self._on, run, so_far_of(self._on, run), by=principal)
        elif run.unsettled:
            # Whoever cancelled it before could not do all that follows.
            self._on.store.forget(run)
        else:
            self._on.announcements.ended(run)
        return settled(self._on, run, by=principal) if run.unsettled else run

    def delete(self, principal: Principal, run_id: str) -> None:
        """Remove a run and all that is kept of it; one that is under way is cancelled first.

        Raises:
            NotFoundError: `run_not_found`.

        """
        self._on.store.delete(self.cancel(principal, run_id, to="delete_run"))


def _uris(event: RunEvent) -> Iterable[str]:
    """Return what a call of a run was about, where the event tells of one."""
    return event.data.get("uris", ())


def _led(event: RunEvent, now: Mapping[str, str]) -> RunEvent:
    uris = [now.get(uri, uri) for uri in _uris(event)]
    return replace(event, data={**event.data, "uris": uris}) if uris else event
