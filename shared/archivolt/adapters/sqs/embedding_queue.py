"""Embedding jobs in two queues: fresh changes overtake first loads."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from archivolt.adapters.aws.errors import translated
from archivolt.domain.errors import UnavailableError
from archivolt.domain.ingestion import EmbeddingJob
from archivolt.domain.job_messages import job_message

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

# Amazon SQS API reference, "SendMessageBatch". A job is at most 3 KB of its 1 MB.
_BATCH: Final = 10
_ATTEMPTS: Final = 3


class SqsEmbeddingQueue:
    """An `EmbeddingQueue` of two SQS queues."""

    def __init__(self, client: "SQSClient", *, fresh_url: str, backfill_url: str) -> None:
        self._client = client
        self._fresh_url = fresh_url
        self._backfill_url = backfill_url

    def send(self, jobs: Sequence[EmbeddingJob]) -> None:
        """Queue the jobs, at least once each."""
        self.send_later(jobs, after=timedelta())

    def send_later(self, jobs: Sequence[EmbeddingJob], *, after: timedelta) -> None:
        """Queue jobs that are worked off when some time has passed."""
        delay = int(after.total_seconds())
        self._send(self._fresh_url, [job for job in jobs if not job.bulk], delay)
        self._send(self._backfill_url, [job for job in jobs if job.bulk], delay)

    def _send(self, url: str, jobs: Sequence[EmbeddingJob], delay: int) -> None:
        for entries in _batches(jobs, delay):
            waiting = entries
            for _ in range(_ATTEMPTS):
                with translated():
                    answer = self._client.send_message_batch(QueueUrl=url, Entries=waiting)
                refused = {failure["Id"] for failure in answer.get("Failed", [])}
                waiting = [entry for entry in waiting if entry["Id"] in refused]
                if not waiting:
                    break
            if waiting:
                raise UnavailableError("unavailable")


def _batches(
    jobs: Sequence[EmbeddingJob], delay: int
) -> "Iterator[list[SendMessageBatchRequestEntryTypeDef]]":
    for start in range(0, len(jobs), _BATCH):
        yield [
            {"Id": str(number), "MessageBody": job_message(job), "DelaySeconds": delay}
            for number, job in enumerate(jobs[start : start + _BATCH])
        ]
