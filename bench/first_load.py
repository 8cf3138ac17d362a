"""How soon the notes of a folder are found by words, beside a program of others and the emulators.

Ours goes the whole way: the folder is watched, each note becomes an object, its event a message,
and a function indexes it. The emulators' floor is the first half alone: an object and its message
for each note. basic-memory reads the same folder from this machine's disk. Each stops when all
notes are there or when its time is over: on a busy machine the rate is then of as many as were.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import boto3

from archivolt_local.emulator import REGION, ROOT_CREDENTIALS
from bench import basic_memory
from bench.local_stack import index_states, small_notes, started
from bench.table import Row
from tests.e2e.stack import Stack, wait_until

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

NOTES: Final = 2_000
_VAULT: Final = "notes"
_MOST_SECONDS: Final = 900
_SECONDS_BETWEEN_LOOKS: Final = 0.5
_AT_ONCE: Final = 10
_FLOOR: Final = "bench-floor"


def measure(count: int = NOTES) -> list[Row]:
    """Return notes a second: ours, what the emulators allow, and what basic-memory does."""
    command = basic_memory.installed()
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "source")
        files = small_notes(source, count)
        watched = Path(name, "watched")
        watched.mkdir()
        with started(watched, _VAULT) as stack:
            ours = _rate_of_loading(stack, source, watched, count)
            floor = _rate_of_events(stack, files)
        theirs = command and basic_memory.rate_of_indexing(command, source, seconds=_MOST_SECONDS)
    measured = f"{count:,} notes found by words"
    floors = {"objects and events alone": floor, "basic-memory": theirs}
    return [
        Row(measure=measured, value=ours, unit="notes/s", floor=name, floor_value=value)
        for name, value in floors.items()
        if value is not None
    ]


def _rate_of_loading(stack: Stack, source: Path, watched: Path, count: int) -> float:
    with stack.client() as http:
        wait_until(lambda: bool(index_states(http, _VAULT)))
        start = time.perf_counter()
        shutil.copytree(source, watched, dirs_exist_ok=True)
        found = 0
        while found < count and time.perf_counter() - start < _MOST_SECONDS:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            found = sum(index_states(http, _VAULT).values())
        return found / (time.perf_counter() - start)


def _rate_of_events(stack: Stack, files: Sequence[Path]) -> float:
    """Return how many objects a second are written and their messages received."""
    objects, queues = stack.aws.objects, stack.aws.queues
    objects.create_bucket(Bucket=_FLOOR)
    objects.put_bucket_notification_configuration(
        Bucket=_FLOOR, NotificationConfiguration={"EventBridgeConfiguration": {}}
    )
    queue = queues.create_queue(QueueName=_FLOOR)["QueueUrl"]
    asked = queues.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    _lead_events(stack, asked["Attributes"]["QueueArn"])
    start = time.perf_counter()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        done = [
            pool.submit(objects.put_object, Bucket=_FLOOR, Key=str(number), Body=file.read_bytes())
            for number, file in enumerate(files)
        ]
        received = _receive(queues, queue, len(files))
        taken = time.perf_counter() - start
        for each in done:
            each.cancel()
    for each in done:
        if not each.cancelled():
            each.result()
    return received / taken


def _lead_events(stack: Stack, queue_arn: str) -> None:
    """Have the events of the bucket come to a queue, as the product's own do."""
    # The stubs installed are those of a few services.
    make = cast("Any", boto3.client)  # pyright: ignore[reportUnknownMemberType]
    events = make(
        "events",
        endpoint_url=stack.aws.url,
        region_name=REGION,
        aws_access_key_id=ROOT_CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=ROOT_CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
    pattern = {"source": ["aws.s3"], "detail": {"bucket": {"name": [_FLOOR]}}}
    events.put_rule(Name=_FLOOR, EventPattern=json.dumps(pattern))
    events.put_targets(Rule=_FLOOR, Targets=[{"Id": "queue", "Arn": queue_arn}])


def _receive(queues: "SQSClient", queue: str, count: int) -> int:
    """Return how many messages came until all had, or the time was over."""
    received: set[str] = set()
    deadline = time.monotonic() + _MOST_SECONDS
    while len(received) < count and time.monotonic() < deadline:
        messages = queues.receive_message(
            QueueUrl=queue, MaxNumberOfMessages=_AT_ONCE, WaitTimeSeconds=1
        ).get("Messages", [])
        received.update(message.get("MessageId", "") for message in messages)
        if messages:
            queues.delete_message_batch(
                QueueUrl=queue,
                Entries=[
                    {"Id": str(number), "ReceiptHandle": message.get("ReceiptHandle", "")}
                    for number, message in enumerate(messages)
                ],
            )
    return len(received)
