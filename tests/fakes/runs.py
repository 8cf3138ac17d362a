"""Runs in a dictionary, and an engine that only notes what it was told."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from archivolt.domain.conversation import Message
from archivolt.domain.errors import ConflictError, NotFoundError, TooLargeError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.run import ApprovalState, Run, RunApproval, RunEvent, RunId
from archivolt.domain.run_limits import MAX_RUN_SEALED_CHARS

# The head, what is sealed and what it brought come beside.
MAX_EVENTS = 80


@dataclass
class _Kept:
    run: Run
    sealed: str | None
    events: list[RunEvent] = field(default_factory=list[RunEvent])
    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    approvals: dict[str, RunApproval] = field(default_factory=dict[str, RunApproval])
    result: Message | None = None

    def tell(self, events: Sequence[RunEvent]) -> None:
        assert len(events) <= MAX_EVENTS, "a transaction carries 100 writes"
        for event in events:
            self.events.append(replace(event, number=len(self.events) + 1))
        self.run = replace(self.run, event_count=len(self.events))

    def close(self, at: datetime) -> None:
        for place, each in self.approvals.items():
            closed = replace(each, sealed="", task_token="")
            if each.state is ApprovalState.PENDING:
                closed = replace(closed, state=ApprovalState.DECLINED, decided_at=at)
            self.approvals[place] = closed


class InMemoryRuns:
    """A `RunStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[TenantId, RunId], _Kept] = {}

    def create(self, run: Run, sealed: str, events: Sequence[RunEvent]) -> Run:
        if (run.tenant, run.id) in self._kept:
            raise ConflictError("conflict")
        kept = _Kept(run, sealed)
        kept.tell(events)
        kept.run = replace(run, revision=1, event_count=len(events))
        self._kept[run.tenant, run.id] = kept
        return kept.run

    def get(self, tenant: TenantId, run_id: RunId) -> Run:
        kept = self._kept.get((tenant, run_id))
        if kept is None:
            raise NotFoundError("run_not_found")
        return kept.run

    def save(
        self,
        run: Run,
        *,
        sealed: str | None = None,
        events: Sequence[RunEvent] = (),
        result: Message | None = None,
    ) -> Run:
        kept = self._kept.get((run.tenant, run.id))
        if kept is None or kept.run.revision != run.revision:
            raise ConflictError("conflict")
        kept.tell(events)
        kept.sealed = None if run.status.over else sealed or kept.sealed
        kept.result = result or kept.result
        kept.run = replace(run, revision=run.revision + 1, event_count=len(kept.events))
        if run.status.over:
            self.forget(run)
        return kept.run

    def forget(self, run: Run) -> None:
        kept = self._of(run)
        kept.sealed = None
        kept.outcomes.clear()
        kept.close(run.updated_at)

    def sealed_state(self, run: Run) -> str:
        sealed = self._of(run).sealed
        if sealed is None:
            raise NotFoundError("run_not_found")
        return sealed

    def result(self, run: Run) -> Message | None:
        return self._of(run).result

    def events(self, run: Run, *, after: int, limit: int) -> list[RunEvent]:
        kept = self._kept.get((run.tenant, run.id))
        found = [event for event in kept.events if event.number > after] if kept else []
        return found[:limit]

    def keep_outcome(
        self, run: Run, place: str, sealed: str, events: Sequence[RunEvent] = ()
    ) -> bool:
        _check_fits(sealed)
        kept = self._open(run)
        if kept is None or place in kept.outcomes:
            return False
        kept.outcomes[place] = sealed
        kept.tell(events)
        return True

    def outcome(self, run: Run, place: str) -> str | None:
        kept = self._kept.get((run.tenant, run.id))
        return kept.outcomes.get(place) if kept else None

    def put_approval(
        self,
        run: Run,
        approval: RunApproval,
        *,
        instead_of: str = "",
        events: Sequence[RunEvent] = (),
    ) -> bool:
        _check_fits(approval.sealed)
        kept = self._open(run)
        if kept is None:
            return False
        approvals = kept.approvals
        there = approvals.get(approval.call)
        if (there.id if there else "") != instead_of:
            return False
        if there is not None and there.state is not approval.state:
            return False
        token = there.task_token if there else ""
        approvals[approval.call] = replace(approval, task_token=token)
        kept.tell(events)
        return True

    def approvals(self, run: Run) -> list[RunApproval]:
        kept = self._kept.get((run.tenant, run.id))
        found = kept.approvals if kept else {}
        return [found[place] for place in sorted(found, key=_order)]

    def decide(
        self,
        run: Run,
        approval: RunApproval,
        state: ApprovalState,
        *,
        by: str,
        at: datetime,
        events: Sequence[RunEvent] = (),
    ) -> RunApproval | None:
        kept = self._open(run)
        if kept is None:
            return None
        approvals = kept.approvals
        there = approvals.get(approval.call)
        if there is None or there.id != approval.id or there.state is not ApprovalState.PENDING:
            return None
        decided = replace(there, state=state, decided_by=by, decided_at=at)
        approvals[approval.call] = decided
        kept.tell(events)
        return decided

    def keep_task_token(self, run: Run, approval: RunApproval, token: str) -> RunApproval | None:
        kept = self._open(run)
        approvals = kept.approvals if kept else {}
        there = approvals.get(approval.call)
        if there is None:
            return None
        approvals[approval.call] = replace(there, task_token=token)
        return approvals[approval.call]

    def of_user(
        self, tenant: TenantId, user: UserId, *, limit: int, after: str | None = None
    ) -> tuple[list[Run], str | None]:
        mine = {
            f"{kept.run.updated_at.isoformat(timespec='microseconds')}#{kept.run.id}": kept.run
            for kept in self._kept.values()
            if (kept.run.tenant, kept.run.owner) == (tenant, user)
        }
        keys = [key for key in sorted(mine, reverse=True) if after is None or key < after]
        page = keys[:limit]
        return [mine[key] for key in page], page[-1] if len(keys) > limit else None

    def unfinished(self) -> Iterator[tuple[TenantId, RunId]]:
        yield from [key for key, kept in self._kept.items() if not kept.run.status.over]

    def delete(self, run: Run) -> None:
        self._kept.pop((run.tenant, run.id), None)

    def forget_outcome(self, run: Run, place: str) -> None:
        """Be as if a worker had died before it could keep what a call came to."""
        del self._of(run).outcomes[place]

    def _open(self, run: Run) -> _Kept | None:
        kept = self._kept.get((run.tenant, run.id))
        return None if kept is None or kept.run.status.over else kept

    def _of(self, run: Run) -> _Kept:
        kept = self._kept.get((run.tenant, run.id))
        if kept is None:
            raise NotFoundError("run_not_found")
        return kept


def _check_fits(sealed: str) -> None:
    if len(sealed) > MAX_RUN_SEALED_CHARS:
        raise TooLargeError("turn_too_large", size=len(sealed), limit=MAX_RUN_SEALED_CHARS)


def _order(place: str) -> tuple[int, int]:
    step, _, index = place.partition(".")
    return int(step), int(index)


class NotingEngine:
    """A `RunEngine` whose executions run when the test says so; `forget` is a restart of it."""

    def __init__(self) -> None:
        self.started: list[tuple[RunId, int]] = []
        self.stopped: list[tuple[RunId, int]] = []
        self.waiting: set[str] = set()
        self._live: set[tuple[RunId, int]] = set()

    def start(self, run: Run) -> None:
        key = (run.id, run.execution)
        if key not in self.started:
            self.started.append(key)
            self._live.add(key)

    def go_on(self, task_token: str) -> bool:
        if task_token not in self.waiting:
            return False
        self.waiting.discard(task_token)
        return True

    def stop(self, run: Run) -> None:
        self.stopped.append((run.id, run.execution))
        self._live.discard((run.id, run.execution))

    def works_on(self, run: Run) -> bool:
        return (run.id, run.execution) in self._live

    def forget(self) -> None:
        self._live.clear()
        self.waiting.clear()
