"""Synchronisations in a queue of their own."""

from typing import TYPE_CHECKING

from archivolt.adapters.aws.errors import translated
from archivolt.domain.sync import SyncJob, sync_message

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient


class SqsSyncQueue:
    """A `SyncQueue` of one SQS queue."""

    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    def send(self, job: SyncJob) -> None:
        """Queue a job, at least once."""
        with translated():
            self._client.send_message(QueueUrl=self._url, MessageBody=sync_message(job))
