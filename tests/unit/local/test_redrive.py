import json
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from archivolt_local.cli import main
from archivolt_local.redrive_queues import dead_letters, redrive
from archivolt_local.status import describe_redrive
from tests.contract.conftest import client_of


class FakeQueues:
    """SQS as far as moving messages goes; `refused` bodies cannot be sent."""

    def __init__(self, refused: str = "") -> None:
        self.refused = refused
        self.messages: dict[str, list[dict[str, Any]]] = {"work": [], "work-dead": [], "plain": []}
        self.hidden: set[str] = set()

    def put(self, queue: str, body: str, **more: object) -> None:
        self.messages[queue].append({"Body": body, "ReceiptHandle": f"receipt-{body}", **more})

    def bodies(self, queue: str) -> list[str]:
        return [message["Body"] for message in self.messages[queue]]

    def get_queue_url(self, *, QueueName: str) -> dict[str, str]:  # noqa: N803
        return {"QueueUrl": QueueName}

    def get_queue_attributes(self, *, QueueUrl: str, **_: object) -> dict[str, Any]:  # noqa: N803
        found = {"ApproximateNumberOfMessages": str(len(self.messages[QueueUrl]))}
        if QueueUrl == "work":
            arn = "arn:aws:sqs:eu-west-1:000000000000:work-dead"
            found["RedrivePolicy"] = json.dumps({"deadLetterTargetArn": arn})
        return {"Attributes": found}

    def receive_message(self, *, QueueUrl: str, **_: object) -> dict[str, Any]:  # noqa: N803
        seen = [m for m in self.messages[QueueUrl] if m["ReceiptHandle"] not in self.hidden][:10]
        self.hidden |= {message["ReceiptHandle"] for message in seen}
        return {"Messages": seen} if seen else {}

    def send_message(
        self,
        *,
        QueueUrl: str,  # noqa: N803
        MessageBody: str,  # noqa: N803
        MessageAttributes: dict[str, Any],  # noqa: N803
    ) -> None:
        if MessageBody == self.refused:
            raise ClientError({"Error": {"Code": "InvalidMessageContents"}}, "SendMessage")
        self.put(QueueUrl, MessageBody, MessageAttributes=MessageAttributes)

    def delete_message(self, *, QueueUrl: str, ReceiptHandle: str) -> None:  # noqa: N803
        kept = [m for m in self.messages[QueueUrl] if m["ReceiptHandle"] != ReceiptHandle]
        self.messages[QueueUrl] = kept

    def change_message_visibility(self, *, ReceiptHandle: str, **_: object) -> None:  # noqa: N803
        self.hidden.remove(ReceiptHandle)


def test_every_dead_letter_goes_back_to_the_queue_it_came_from() -> None:
    queues = FakeQueues()
    bodies = [f"m{number}" for number in range(23)]
    for body in bodies:
        queues.put("work-dead", body, MessageAttributes={"kind": {"StringValue": body}})
    assert dead_letters(cast("Any", queues), "work") == 23
    told = redrive(cast("Any", queues), ["work", "plain"])
    assert dead_letters(cast("Any", queues), "work") == 0
    assert dead_letters(cast("Any", queues), "plain") == 0
    assert told == [{"name": "work-dead", "waiting": 23, "moved": 23, "stayed": 0}]
    assert queues.bodies("work") == bodies
    assert queues.bodies("work-dead") == queues.bodies("plain") == []
    assert queues.messages["work"][3]["MessageAttributes"] == {"kind": {"StringValue": "m3"}}


def test_a_message_that_cannot_be_sent_stays_and_can_be_seen() -> None:
    queues = FakeQueues(refused="bad")
    for body in ("a", "bad", "b"):
        queues.put("work-dead", body)
    told = redrive(cast("Any", queues), ["work"])
    assert told == [{"name": "work-dead", "waiting": 3, "moved": 2, "stayed": 1}]
    assert queues.bodies("work") == ["a", "b"]
    assert queues.bodies("work-dead") == ["bad"]
    assert "receipt-bad" not in queues.hidden


def test_messages_move_between_queues_of_sqs() -> None:
    with mock_aws():
        sqs = client_of("sqs")
        dead = sqs.create_queue(QueueName="work-dead")["QueueUrl"]
        about = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
        policy = {"deadLetterTargetArn": about["Attributes"]["QueueArn"], "maxReceiveCount": 5}
        attributes = {"RedrivePolicy": json.dumps(policy)}
        work = sqs.create_queue(QueueName="work", Attributes=attributes)["QueueUrl"]
        kind = {"kind": {"StringValue": "fresh", "DataType": "String"}}
        sqs.send_message(QueueUrl=dead, MessageBody="a", MessageAttributes=kind)
        told = redrive(sqs, ["work"])
        got = sqs.receive_message(QueueUrl=work, MessageAttributeNames=["All"])["Messages"]
    assert told == [{"name": "work-dead", "waiting": 1, "moved": 1, "stayed": 0}]
    assert [message["Body"] for message in got] == ["a"]
    assert got[0]["MessageAttributes"] == kind


def test_what_became_of_dead_letters_is_told_line_by_line() -> None:
    moved = {"name": "x-dead", "waiting": 2, "moved": 2, "stayed": 0}
    stayed = {"name": "y-dead", "waiting": 3, "moved": 2, "stayed": 1}
    assert describe_redrive([moved, stayed]).splitlines() == [
        "x-dead: 2 waiting, 2 moved",
        "y-dead: 3 waiting, 2 moved, 1 could not be sent and stayed",
    ]


def test_redrive_needs_a_running_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redrive", "--data", str(tmp_path)]) == 1
    assert "No stack runs" in capsys.readouterr().err
