"""The use case of the indexing function: one batch of changes.

Events are grouped by document and only the newest of each counts. Documents share the writes to the
text index, and nothing else: one that fails, or is slow, leaves the others alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from archivolt.domain.ingestion import BatchOutcome, ObjectChange
from archivolt.domain.limits import MAX_EXTRACTION_SECONDS
from archivolt.domain.paths import is_hidden
from archivolt.ingestion.index_plan import DocumentKey, IndexPlanner, Plan
from archivolt.ingestion.index_write import IndexWriter
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock

TimeLeft = Callable[[], timedelta]

_ROUNDS: Final = 3
# What is written together: bounded, so that memory and the work that a timeout undoes are too.
# A shard is read and written whole, however few of the documents are its own.
_MAX_DOCUMENTS: Final = 2_000
_MAX_CHARS: Final = 4_000_000
_MAX_AGE: Final = timedelta(seconds=10)
# The time that the slowest document may need, and writing what is planned then.
_RESERVE: Final = timedelta(seconds=MAX_EXTRACTION_SECONDS + 20)


class IndexChanges:
    """Brings the index to what the store holds."""

    def __init__(self, planner: IndexPlanner, writer: IndexWriter, clock: Clock) -> None:
        self._planner = planner
        self._writer = writer
        self._clock = clock

    def run(
        self, messages: Mapping[str, Sequence[ObjectChange]], *, time_left: TimeLeft
    ) -> BatchOutcome:
        """Index what the messages announce and name those that have to come again."""
        everything = [change for changes in messages.values() for change in changes]
        failed = self.apply(_newest(everything), time_left=time_left)
        return BatchOutcome(
            failed=[
                message_id
                for message_id, changes in messages.items()
                if any((change.vault, change.path) in failed for change in changes)
            ]
        )

    def apply(
        self, changes: Sequence[ObjectChange], *, time_left: TimeLeft
    ) -> frozenset[DocumentKey]:
        """Index changes, at most one per document; return the documents that failed."""
        failed: set[DocumentKey] = set()
        group = _Group(self._clock)
        for change in changes:
            if is_hidden(change.path):
                continue
            if time_left() < _RESERVE:
                failed.add((change.vault, change.path))
                continue
            plan = self._planned(change, failed)
            if plan is not None:
                group.add(plan, change)
            if group.is_full():
                failed |= self._write(group)
                group = _Group(self._clock)
        return frozenset(failed | self._write(group))

    def _planned(
        self, change: ObjectChange, failed: set[DocumentKey], *, anew: bool = False
    ) -> Plan | None:
        try:
            return self._planner.plan(change, anew=anew)
        except Exception as error:  # noqa: BLE001  one document's trouble is not another's
            logger.error("a change could not be planned", extra=failure(error))
            failed.add((change.vault, change.path))
            return None

    def _write(self, group: "_Group") -> set[DocumentKey]:
        """Write a group; what another worker overtook is planned again.

        If we had passages to write it is read anew, for ours may lie above his.
        """
        failed: set[DocumentKey] = set()
        plans = group.plans
        for _ in range(_ROUNDS):
            written = self._writer.write(plans)
            failed |= written.failed
            if not written.refused:
                return failed
            again = [
                self._planned(group.changes[plan.key], failed, anew=plan.update is not None)
                for plan in plans
                if plan.key in written.refused
            ]
            plans = [plan for plan in again if plan is not None]
        return failed | {plan.key for plan in plans}


class _Group:
    """Plans to be written together."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._opened_at = clock.now()
        self._chars = 0
        self.plans: list[Plan] = []
        self.changes: dict[DocumentKey, ObjectChange] = {}

    def add(self, plan: Plan, change: ObjectChange) -> None:
        """Add what was planned for a change."""
        self.plans.append(plan)
        self.changes[plan.key] = change
        if plan.update is not None:
            self._chars += sum(len(part.passage.text) for part in plan.update.passages)

    def is_full(self) -> bool:
        """Tell whether it is time to write."""
        return (
            len(self.plans) >= _MAX_DOCUMENTS
            or self._chars >= _MAX_CHARS
            or self._clock.now() - self._opened_at >= _MAX_AGE
        )


def _newest(changes: Iterable[ObjectChange]) -> list[ObjectChange]:
    newest: dict[DocumentKey, ObjectChange] = {}
    for change in changes:
        known = newest.get((change.vault, change.path))
        if known is None or (change.sequencer or "") > (known.sequencer or ""):
            newest[change.vault, change.path] = change
    return list(newest.values())
