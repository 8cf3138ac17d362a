"""Erasures in a queue of their own: a message has the id of one, and nothing else."""

from datetime import timedelta
from typing import TYPE_CHECKING

from archivolt.adapters.aws.errors import translated
from archivolt.domain.erasure import erasure_message

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


class SqsErasureQueue:
    """An `ErasureQueue` of one SQS queue."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    def send(self, erasure_id: str, *, delay: timedelta = timedelta()) -> None:
        """Queue the work on one, at least once."""
        seconds = int(delay.total_seconds())
        with translated():
            self._client.send_message(
                QueueUrl=self._url, MessageBody=erasure_message(erasure_id), DelaySeconds=seconds
            )
