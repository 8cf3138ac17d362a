"""Feeds a function from a queue as Lambda's event source mapping does.

Reference: AWS Lambda developer guide, "Using Lambda with Amazon SQS" (the event, partial batch
responses). What failed is delivered again, sooner than on AWS: people wait for this machine.
"""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import BotoCoreError, ClientError

from archivolt_local.emulator import REGION
from archivolt_local.provisioning.deployment import EventSource
from archivolt_local.runtime.pool import FunctionPool
from archivolt_local.runtime.worker import Outcome

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.type_defs import MessageTypeDef

    from archivolt_local.json_values import JsonObject

_WAIT_SECONDS = 2
_PAUSE_AFTER_ERROR = 1.0
_FIRST_RETRY_SECONDS = 5
_LAST_RETRY_SECONDS = 600
_MAX_RECEIVED = 10


class QueuePoller:
    """Takes one batch after the other until it is cancelled."""

    def __init__(self, source: EventSource, sqs: "SQSClient", pool: FunctionPool) -> None:
        self._source = source
        self._sqs = sqs
        self._pool = pool
        self._url = ""

    async def run(self) -> None:
        """Poll for ever."""
        self._url = await asyncio.to_thread(self._queue_url)
        while True:
            try:
                await self._one_batch()
            except (BotoCoreError, ClientError):
                await asyncio.sleep(_PAUSE_AFTER_ERROR)

    async def _one_batch(self) -> None:
        receiving = asyncio.ensure_future(asyncio.to_thread(self._receive))
        try:
            messages = await asyncio.shield(receiving)
        except asyncio.CancelledError:
            # Were the queue's own trouble to take its place, the poller would never end.
            with contextlib.suppress(BotoCoreError, ClientError):
                await asyncio.to_thread(self._hand_back, await receiving)
            raise
        if not messages:
            return
        event = json.dumps(sqs_event(messages, self._source)).encode()
        try:
            outcome = await self._pool.invoke(event)
        except asyncio.CancelledError:
            with contextlib.suppress(BotoCoreError, ClientError):
                await asyncio.to_thread(self._hand_back, messages)
            raise
        failed = failed_messages(messages, outcome, reports=self._source.reports_failures)
        await asyncio.to_thread(self._settle, messages, failed)

    def _queue_url(self) -> str:
        return self._sqs.get_queue_url(QueueName=self._source.queue_name)["QueueUrl"]

    def _receive(self) -> "list[MessageTypeDef]":
        answer = self._sqs.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=min(self._source.batch_size, _MAX_RECEIVED),
            WaitTimeSeconds=_WAIT_SECONDS,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return answer.get("Messages", [])

    def _hand_back(self, messages: "Sequence[MessageTypeDef]") -> None:
        """Let messages be delivered again at once: the stack stops while they are in work."""
        for message in messages:
            self._hide(message, 0)

    def _hide(self, message: "MessageTypeDef", seconds: int) -> None:
        self._sqs.change_message_visibility(
            QueueUrl=self._url,
            ReceiptHandle=message.get("ReceiptHandle", ""),
            VisibilityTimeout=seconds,
        )

    def _settle(self, messages: "Sequence[MessageTypeDef]", failed: frozenset[str]) -> None:
        done = [message for message in messages if message.get("MessageId") not in failed]
        if done:
            self._sqs.delete_message_batch(
                QueueUrl=self._url,
                Entries=[
                    {"Id": str(number), "ReceiptHandle": message.get("ReceiptHandle", "")}
                    for number, message in enumerate(done)
                ],
            )
        for message in messages:
            if message.get("MessageId") in failed:
                self._hide(message, retry_delay(message))


def retry_delay(message: "MessageTypeDef") -> int:
    """Return for how many seconds a failed message is hidden: twice as long each time."""
    received = int(message.get("Attributes", {}).get("ApproximateReceiveCount", "1"))
    return min(_LAST_RETRY_SECONDS, _FIRST_RETRY_SECONDS * 2 ** (received - 1))


def sqs_event(messages: "Sequence[MessageTypeDef]", source: EventSource) -> dict[str, Any]:
    """Return the event Lambda passes for a batch."""
    return {"Records": [_record(message, source) for message in messages]}


def _record(message: "MessageTypeDef", source: EventSource) -> dict[str, Any]:
    return {
        "messageId": message.get("MessageId"),
        "receiptHandle": message.get("ReceiptHandle"),
        "body": message.get("Body"),
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {
            name: _attribute(cast("Mapping[str, Any]", value))
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message.get("MD5OfBody"),
        "eventSource": "aws:sqs",
        "eventSourceARN": source.queue_arn,
        "awsRegion": REGION,
    }


def _attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stringValue": value.get("StringValue"),
        "stringListValues": [],
        "binaryListValues": [],
        "dataType": value.get("DataType"),
    }


def failed_messages(
    messages: "Sequence[MessageTypeDef]", outcome: Outcome, *, reports: bool
) -> frozenset[str]:
    """Return the ids of the messages to deliver again.

    A failed function fails the whole batch; so does a report that names an unknown message or
    has no meaning (AWS Lambda developer guide, "Success and failure conditions").
    """
    everything = frozenset(message.get("MessageId", "") for message in messages)
    if outcome.failed:
        return everything
    if not reports:
        return frozenset()
    try:
        answer: JsonObject = json.loads(outcome.payload) or {}
        items: list[JsonObject] = answer.get("batchItemFailures") or []
        reported = frozenset(str(item["itemIdentifier"]) for item in items)
    except (ValueError, TypeError, KeyError, AttributeError):
        return everything
    return reported if reported <= everything else everything
