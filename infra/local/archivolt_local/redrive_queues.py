"""Moves dead letters back, tells it as JSON: `python -m archivolt_local.redrive_queues QUEUE…`.

It runs with a function's environment and every right, as the stack's own maintenance code does.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from botocore.exceptions import BotoCoreError, ClientError

from archivolt.settings import load_settings
from archivolt_local.provisioning.clients import StackClients

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.type_defs import MessageTypeDef

_AT_ONCE: Final = 10
_HIDDEN_SECONDS: Final = 300
_WAITING: Final = "ApproximateNumberOfMessages"


def redrive(queues: "SQSClient", names: Sequence[str]) -> list[dict[str, Any]]:
    """Move back what waits in the dead-letter queue of each named queue.

    Return for each dead-letter queue its `name`, how many messages `waiting` it had, how many
    were `moved` and how many could not be sent and `stayed`.
    """
    return [
        _redrive(queues, source, target) for source, target in _dead_letter_queues(queues, names)
    ]


def dead_letters(queues: "SQSClient", name: str) -> int:
    """Return how many messages wait in the dead-letter queue of a queue, 0 if it has none."""
    counts = [
        int(_attributes(queues, queues.get_queue_url(QueueName=dead)["QueueUrl"])[_WAITING])
        for dead, _ in _dead_letter_queues(queues, [name])
    ]
    return sum(counts)


def _dead_letter_queues(queues: "SQSClient", names: Sequence[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name in sorted(names):
        url = queues.get_queue_url(QueueName=name)["QueueUrl"]
        policy = _attributes(queues, url).get("RedrivePolicy")
        if policy:
            found.append((json.loads(policy)["deadLetterTargetArn"].rsplit(":", 1)[1], url))
    return found


def _attributes(queues: "SQSClient", url: str) -> Mapping[str, str]:
    found = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return cast("Mapping[str, str]", found)


def _redrive(queues: "SQSClient", name: str, target: str) -> dict[str, Any]:
    url = queues.get_queue_url(QueueName=name)["QueueUrl"]
    waiting = int(_attributes(queues, url)[_WAITING])
    moved, stayed = 0, list[str]()
    while messages := _receive(queues, url):
        for message in messages:
            receipt = message.get("ReceiptHandle", "")
            if _send(queues, target, message):
                queues.delete_message(QueueUrl=url, ReceiptHandle=receipt)
                moved += 1
            else:
                stayed.append(receipt)
    for receipt in stayed:
        queues.change_message_visibility(QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=0)
    return {"name": name, "waiting": waiting, "moved": moved, "stayed": len(stayed)}


def _receive(queues: "SQSClient", url: str) -> "list[MessageTypeDef]":
    # What could not be sent is hidden until the queue is through, so the loop ends.
    answer = queues.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=_AT_ONCE,
        VisibilityTimeout=_HIDDEN_SECONDS,
        MessageAttributeNames=["All"],
    )
    return answer.get("Messages", [])


def _send(queues: "SQSClient", target: str, message: "MessageTypeDef") -> bool:
    try:
        queues.send_message(
            QueueUrl=target,
            MessageBody=message.get("Body", ""),
            MessageAttributes=cast("Any", message.get("MessageAttributes", {})),
        )
    except (BotoCoreError, ClientError):
        return False
    return True


if __name__ == "__main__":
    endpoint = load_settings().aws_endpoint_url
    print(json.dumps(redrive(StackClients(endpoint, endpoint).queues, sys.argv[1:])))
