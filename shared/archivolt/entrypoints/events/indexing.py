"""The indexing function: batches of S3's events."""

from collections.abc import Callable, Mapping
from typing import Any

from archivolt.domain.ingestion import BatchOutcome
from archivolt.entrypoints.events.batches import (
    LambdaContext,
    batch_response,
    parse_batch,
    time_left,
)
from archivolt.entrypoints.events.object_changes import parse_changes
from archivolt.ingestion.index_change import IndexChanges
from archivolt.ingestion.stray_changes import StrayChanges


def build_indexing(
    index_changes: Callable[[], IndexChanges], stray_changes: Callable[[], StrayChanges]
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the handler; the use cases are built at the first batch."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        announced, invalid = parse_batch(event, parse_changes)
        messages, unsettled = stray_changes().settle(announced)
        outcome = index_changes().run(messages, time_left=time_left(context))
        return batch_response(BatchOutcome(failed=[*outcome.failed, *unsettled]), invalid)

    return handler
