"""The embedding function: batches of our own jobs."""

from collections.abc import Callable, Mapping
from typing import Any

from archivolt.domain.ingestion import EmbeddingJob
from archivolt.domain.job_messages import parse_job
from archivolt.entrypoints.events.batches import (
    LambdaContext,
    batch_response,
    parse_batch,
    time_left,
)
from archivolt.ingestion.per_tenant import BatchWorker


def build_embedding(
    embed_passages: Callable[[], BatchWorker[EmbeddingJob]],
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the handler; the use case is built at the first batch."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        jobs, invalid = parse_batch(event, parse_job)
        outcome = embed_passages().run(jobs, time_left=time_left(context))
        return batch_response(outcome, invalid)

    return handler
