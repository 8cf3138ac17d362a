"""SQS batches in, partial batch failures out; it knows no message's meaning.

See the AWS Lambda developer guide, "Reporting batch item failures for Lambda functions with an
Amazon SQS trigger": a message not named as failed is deleted from the queue.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.ingestion import BatchOutcome
from archivolt.observability import logger

Parsed = TypeVar("Parsed")
TimeLeft = Callable[[], timedelta]


class LambdaContext(Protocol):
    """What an invocation tells of itself."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the time until the invocation is stopped."""
        ...


def time_left(context: LambdaContext) -> TimeLeft:
    """Return what tells how much of an invocation's time is left."""
    return lambda: timedelta(milliseconds=context.get_remaining_time_in_millis())


def parse_batch(
    event: Mapping[str, Any], parse: Callable[[str], Parsed]
) -> tuple[dict[str, Parsed], list[str]]:
    """Return what each message says, by message id, and the ids of those that say nothing."""
    parsed: dict[str, Parsed] = {}
    invalid: list[str] = []
    for record in event["Records"]:
        try:
            parsed[record["messageId"]] = parse(record.get("body") or "")
        except InvalidRequestError:
            logger.error("invalid message", extra={"message_id": record["messageId"]})
            invalid.append(record["messageId"])
    return parsed, invalid


def batch_response(outcome: BatchOutcome, invalid: list[str]) -> dict[str, Any]:
    """Return the answer that asks for the failed messages to be delivered again."""
    failed = dict.fromkeys([*outcome.failed, *invalid])
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}
