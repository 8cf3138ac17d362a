import asyncio
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import EndpointConnectionError

from archivolt_local.events.queue_poller import (
    QueuePoller,
    failed_messages,
    retry_delay,
    sqs_event,
)
from archivolt_local.provisioning.deployment import EventSource
from archivolt_local.runtime.worker import Outcome
from tests.unit.local.pools import ScriptedPool, answering, failing

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.type_defs import MessageTypeDef

    from archivolt_local.runtime.pool import FunctionPool

SOURCE = EventSource(
    queue_name="indexing",
    queue_arn="arn:aws:sqs:us-east-1:000000000000:indexing",
    function="archivolt-indexing",
    batch_size=10,
    reports_failures=True,
)


def message(identifier: str, *, received: int = 1) -> "MessageTypeDef":
    return {
        "MessageId": identifier,
        "ReceiptHandle": f"receipt-{identifier}",
        "Body": f"body of {identifier}",
        "MD5OfBody": "0" * 32,
        "Attributes": {"ApproximateReceiveCount": str(received)},
        "MessageAttributes": {"kind": {"StringValue": "fresh", "DataType": "String"}},
    }


BATCH = [message("m1"), message("m2")]


def reporting(*identifiers: object) -> Outcome:
    return answering({"batchItemFailures": [{"itemIdentifier": each} for each in identifiers]})


def test_the_event_has_the_form_lambda_gives_it() -> None:
    assert sqs_event(BATCH[:1], SOURCE) == {
        "Records": [
            {
                "messageId": "m1",
                "receiptHandle": "receipt-m1",
                "body": "body of m1",
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {
                    "kind": {
                        "stringValue": "fresh",
                        "stringListValues": [],
                        "binaryListValues": [],
                        "dataType": "String",
                    }
                },
                "md5OfBody": "0" * 32,
                "eventSource": "aws:sqs",
                "eventSourceARN": SOURCE.queue_arn,
                "awsRegion": "us-east-1",
            }
        ]
    }


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [
        (answering(None), set[str]()),
        (answering({}), set[str]()),
        (reporting(), set[str]()),
        (reporting("m2"), {"m2"}),
        (reporting("m1", "m2"), {"m1", "m2"}),
        (reporting("stranger"), {"m1", "m2"}),
        (reporting(""), {"m1", "m2"}),
        (answering({"batchItemFailures": [None]}), {"m1", "m2"}),
        (answering("text"), {"m1", "m2"}),
        (failing("ValueError", "no"), {"m1", "m2"}),
    ],
)
def test_what_failed_is_delivered_again(outcome: Outcome, failed: set[str]) -> None:
    assert failed_messages(BATCH, outcome, reports=True) == failed


def test_a_function_that_does_not_report_fails_or_passes_whole() -> None:
    assert not failed_messages(BATCH, reporting("m1"), reports=False)
    assert failed_messages(BATCH, failing("E", ""), reports=False) == {"m1", "m2"}


def test_each_retry_waits_twice_as_long_up_to_ten_minutes() -> None:
    delays = [retry_delay(message("m", received=number)) for number in range(1, 10)]
    assert delays[:4] == [5, 10, 20, 40]
    assert max(delays) == 600


class QueueIsEmptyError(Exception):
    """Ends the poller's loop."""


class OneBatchQueue:
    """A queue that gives one batch, then nothing more, and keeps what is done to it."""

    def __init__(self, batch: "list[MessageTypeDef]") -> None:
        self._batch = batch
        self.deleted: list[str] = []
        self.hidden: dict[str, int] = {}

    def get_queue_url(self, *, QueueName: str) -> dict[str, str]:  # noqa: N803
        return {"QueueUrl": f"https://queues.test/{QueueName}"}

    def receive_message(self, **_: Any) -> dict[str, Any]:  # noqa: ANN401
        batch, self._batch = self._batch, []
        if not batch:
            raise QueueIsEmptyError
        return {"Messages": batch}

    def delete_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, str]]) -> None:  # noqa: N803
        self.deleted += [entry["ReceiptHandle"] for entry in Entries]

    def change_message_visibility(self, **named: Any) -> None:  # noqa: ANN401
        self.hidden[named["ReceiptHandle"]] = named["VisibilityTimeout"]


@pytest.mark.anyio
async def test_what_went_well_is_deleted_and_the_rest_comes_again() -> None:
    queue = OneBatchQueue(BATCH)
    pool = ScriptedPool(lambda _: reporting("m2"))
    poller = QueuePoller(SOURCE, cast("SQSClient", queue), cast("FunctionPool", pool))
    with pytest.raises(QueueIsEmptyError):
        await poller.run()
    assert [record["messageId"] for record in pool.events[0]["Records"]] == ["m1", "m2"]
    assert queue.deleted == ["receipt-m1"]
    assert queue.hidden == {"receipt-m2": 5}


class VanishingQueue(OneBatchQueue):
    """A queue whose service ends: while somebody waits for messages, or after it gave a batch."""

    def __init__(self, batch: "list[MessageTypeDef]") -> None:
        super().__init__(batch)
        self.asked = threading.Event()
        self.gone = threading.Event()

    def receive_message(self, **named: Any) -> dict[str, Any]:  # noqa: ANN401
        try:
            return super().receive_message(**named)
        except QueueIsEmptyError:
            self.asked.set()
            self.gone.wait(10)
            raise EndpointConnectionError(endpoint_url="http://queue.test") from None

    def change_message_visibility(self, **_: Any) -> None:  # noqa: ANN401
        raise EndpointConnectionError(endpoint_url="http://queue.test")


class EndlessPool:
    """A function that never ends; `started` once it has begun."""

    def __init__(self) -> None:
        self.started = asyncio.Event()

    async def invoke(self, _: bytes) -> Outcome:
        self.started.set()
        await asyncio.Event().wait()
        return answering({})


@pytest.mark.anyio
async def test_a_poller_ends_when_told_though_its_queue_is_gone() -> None:
    queue, pool = VanishingQueue([]), EndlessPool()
    poller = QueuePoller(SOURCE, cast("SQSClient", queue), cast("FunctionPool", pool))
    polling = asyncio.ensure_future(poller.run())
    await asyncio.to_thread(queue.asked.wait, 10)

    polling.cancel()
    queue.gone.set()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(polling, 10)


@pytest.mark.anyio
async def test_a_poller_ends_amid_a_batch_though_its_queue_is_gone() -> None:
    queue, pool = VanishingQueue(BATCH), EndlessPool()
    poller = QueuePoller(SOURCE, cast("SQSClient", queue), cast("FunctionPool", pool))
    polling = asyncio.ensure_future(poller.run())
    await pool.started.wait()

    polling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(polling, 10)
