"""Finishes what was begun and never called again: moves, deletions and other work on many files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.limits import OPERATION_IDLE_SECONDS
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.operations import Operation, OperationKind, OperationStore

# One call of a resumption may take this long.
_RESERVE: Final = timedelta(seconds=90)

Resume = Callable[[Operation], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """How many operations were found idle, and how many of them are finished now."""

    idle: int = 0
    finished: int = 0


class OperationSweep:
    """Goes on with idle operations; `resumptions` says how, by kind.

    A resumption raises `UnavailableError` `operation_unfinished` where it has to be called again.
    """

    def __init__(
        self,
        operations: OperationStore,
        resumptions: Mapping[OperationKind, Resume],
        clock: Clock,
    ) -> None:
        self._operations = operations
        self._resumptions = resumptions
        self._clock = clock

    def run(self, *, time_left: Callable[[], timedelta]) -> SweepReport:
        """Finish what can be finished while time is left; the rest waits for the next run."""
        idle = self._idle()
        finished = sum(self._finish(operation, time_left) for operation in idle)
        return SweepReport(idle=len(idle), finished=finished)

    def _idle(self) -> list[Operation]:
        before = self._clock.now() - timedelta(seconds=OPERATION_IDLE_SECONDS)
        try:
            return [one for one in self._operations.unfinished() if one.updated_at <= before]
        except UnavailableError as error:
            logger.warning("operations not swept", extra={"code": error.code})
            return []

    def _finish(self, operation: Operation, time_left: Callable[[], timedelta]) -> bool:
        try:
            return self._finished(operation, time_left)
        except Exception as error:  # noqa: BLE001  one operation's trouble is not another's
            told = {"operation": operation.id, "kind": operation.kind.value}
            logger.warning("operation not finished", extra=told | failure(error) | _code_of(error))
            return False

    def _finished(self, operation: Operation, time_left: Callable[[], timedelta]) -> bool:
        resume = self._resumptions.get(operation.kind)
        current: Operation | None = operation
        while current is not None and not current.finished:
            if resume is None or time_left() <= _RESERVE:
                return False
            try:
                resume(current)
            except UnavailableError as error:
                if error.code != "operation_unfinished":
                    raise
            current = self._operations.get(operation.vault, operation.id)
        return True


def _code_of(error: Exception) -> dict[str, str]:
    return {"code": error.code} if isinstance(error, ArchivoltError) else {}
