"""The events of runs, and what happens between two states of a run with its events."""

from collections.abc import Sequence
from typing import Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.run_items import (
    LAST_EVENT,
    event_item,
    event_of,
    event_sk,
    run_key,
    run_of,
)
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable
from archivolt.adapters.dynamodb.writes import Put, Update, Write
from archivolt.domain.errors import UnavailableError
from archivolt.domain.run import Run, RunEvent, RunStatus

ROUNDS: Final = 12
_ON_ITS_WAY: Final = Attr("status").is_in([each.value for each in RunStatus if not each.over])


class RunEvents:
    """The part of a `RunStore` that tells what happens, to a run that is not over."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def events(self, run: Run, *, after: int, limit: int) -> list[RunEvent]:
        """Return the events after a number, in order."""
        if after >= LAST_EVENT:
            return []
        first, last = event_sk(after + 1), event_sk(min(after + limit, LAST_EVENT))
        within = KeyCondition("sk").between(first, last)
        condition = KeyCondition("pk").eq(run_key(run.tenant, run.id).pk) & within
        found: list[RunEvent] = []
        last_key = None
        while True:
            page = self._table.page(condition, after=last_key)
            found += map(event_of, page.items)
            last_key = page.last_key
            if last_key is None:
                return found

    def _kept(self, run: Run, writes: Sequence[Write], events: Sequence[RunEvent]) -> bool:
        """Do writes beside the head and tell them, all or none.

        False if the run is over or gone, where nothing would find them, or if the condition of one
        of them does not hold.
        """
        key = run_key(run.tenant, run.id)
        for _ in range(ROUNDS):
            item = self._table.get(key)
            if item is None or run_of(item).status.over:
                return False
            count: int = item["event_count"]
            unchanged = _ON_ITS_WAY & Attr("event_count").eq(count)
            # Also where nothing is told: the head is what both an end and an erasure write.
            head = Update(key=key, set={"event_count": count + len(events)}, condition=unchanged)
            try:
                self._table.transact([head, *writes, *event_writes(run, events, after=count)])
            except ConditionFailedError as error:
                if any(0 < position <= len(writes) for position in error.positions):
                    return False
                continue
            return True
        raise UnavailableError("unavailable")


def event_writes(run: Run, events: Sequence[RunEvent], *, after: int) -> list[Write]:
    """Return what keeps events under the numbers after this one."""
    return [Put(item=event_item(run, event, after + n)) for n, event in enumerate(events, 1)]
