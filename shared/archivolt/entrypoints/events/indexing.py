"""The indexing function: batches of S3's events."""

from collections.abc import Callable, Mapping
from typing import Any

from archivolt.entrypoints.events.batches import (
    LambdaContext,
    batch_response,
    parse_batch,
    time_left,
)
from archivolt.entrypoints.events.object_changes import parse_changes
from archivolt.ingestion.announced import Announced
from archivolt.ingestion.per_tenant import BatchWorker


def build_indexing(
    index_announced: Callable[[], BatchWorker[Announced]],
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the handler; the use case is built at the first batch."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        announced, invalid = parse_batch(event, parse_changes)
        outcome = index_announced().run(announced, time_left=time_left(context))
        return batch_response(outcome, invalid)

    return handler
