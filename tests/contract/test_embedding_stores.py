"""The embedding queues and the cache of vectors, on the fakes and on moto."""

from array import array
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from archivolt.adapters.s3.vector_cache import S3VectorCache
from archivolt.adapters.sqs.embedding_queue import SqsEmbeddingQueue
from archivolt.domain.errors import UnavailableError
from archivolt.domain.ingestion import EmbeddingJob, Generation
from archivolt.domain.job_messages import parse_job
from archivolt.domain.paths import VaultPath
from archivolt.ports.ingestion import VectorCache
from tests.builders import BOB, vault_ref
from tests.contract.conftest import REGION, client_of
from tests.fakes.embedding import InMemoryVectorCache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from types_boto3_s3 import S3Client
    from types_boto3_sqs import SQSClient

VAULT, OTHER = vault_ref("v1"), vault_ref("v2")
BUCKET = "documents"
HASH = "ab" * 32


@pytest.fixture(params=["fake", "moto"])
def cache(request: pytest.FixtureRequest) -> VectorCache:
    if request.param == "fake":
        return InMemoryVectorCache()
    return S3VectorCache(_bucket(request.getfixturevalue("moto_s3")), BUCKET)


def _bucket(client: "S3Client") -> "S3Client":
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    return client


def test_vectors_come_back_in_order(cache: VectorCache) -> None:
    vectors = [array("f", [0.25, -0.5]), [1.0, 0.0], [0.0, 0.125]]
    cache.store(VAULT, HASH, "m/1", vectors)
    assert [list(vector) for vector in cache.load(VAULT, HASH, "m/1")] == [
        [0.25, -0.5],
        [1.0, 0.0],
        [0.0, 0.125],
    ]


def test_what_was_never_stored_is_empty(cache: VectorCache) -> None:
    cache.store(VAULT, HASH, "m/1", [[1.0]])
    assert cache.load(VAULT, HASH, "m/2") == []
    assert cache.load(VAULT, "cd" * 32, "m/1") == []
    assert cache.load(OTHER, HASH, "m/1") == []


def test_more_vectors_replace_the_first_ones(cache: VectorCache) -> None:
    cache.store(VAULT, HASH, "m/1", [[1.0]])
    cache.store(VAULT, HASH, "m/1", [[1.0], [0.5]])
    assert len(cache.load(VAULT, HASH, "m/1")) == 2


def test_a_content_is_forgotten_under_every_fingerprint_of_its_vault(cache: VectorCache) -> None:
    for vault in (VAULT, OTHER):
        for fingerprint in ("m/1", "m/2"):
            cache.store(vault, HASH, fingerprint, [[1.0]])
    cache.forget(VAULT, HASH)
    cache.forget(VAULT, HASH)
    assert cache.load(VAULT, HASH, "m/1") == cache.load(VAULT, HASH, "m/2") == []
    assert list(cache.contents(VAULT)) == []
    assert list(cache.contents(OTHER)) == [HASH]


@pytest.mark.parametrize("damage", [b"", b"AVVC", b"x" * 40, b"AVVC" + b"\1\0\0\0" * 3])
def test_what_cannot_be_read_counts_as_absent(moto_s3: "S3Client", damage: bytes) -> None:
    cache = S3VectorCache(_bucket(moto_s3), BUCKET)
    cache.store(VAULT, HASH, "m/1", [[1.0]])
    for stored in moto_s3.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        moto_s3.put_object(Bucket=BUCKET, Key=stored.get("Key", ""), Body=damage)
    assert cache.load(VAULT, HASH, "m/1") == []


@pytest.fixture
def sqs() -> "Iterator[SQSClient]":
    with mock_aws():
        yield client_of("sqs")


def _job(number: int, *, bulk: bool) -> EmbeddingJob:
    return EmbeddingJob(
        vault=VAULT,
        path=VaultPath(f"Été/à+b ({number}).md"),
        generation=Generation("1790000000000000-aa"),
        bulk=bulk,
        users=(BOB,) if number % 2 else (),
    )


def _received(client: "SQSClient", url: str) -> list[EmbeddingJob]:
    jobs: list[EmbeddingJob] = []
    while messages := client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        jobs += [parse_job(message.get("Body", "")) for message in messages]
    return jobs


def test_fresh_jobs_and_first_loads_wait_in_queues_of_their_own(sqs: "SQSClient") -> None:
    fresh = sqs.create_queue(QueueName="fresh")["QueueUrl"]
    backfill = sqs.create_queue(QueueName="backfill")["QueueUrl"]
    queue = SqsEmbeddingQueue(sqs, fresh_url=fresh, backfill_url=backfill)
    jobs = [_job(number, bulk=number >= 12) for number in range(25)]
    queue.send(jobs)
    assert _received(sqs, fresh) == jobs[:12]
    assert _received(sqs, backfill) == jobs[12:]
    queue.send([])


class _Refusing:
    """An SQS client that refuses some entries a few times."""

    def __init__(self, refusals: int) -> None:
        self.accepted: list[str] = []
        self._refusals = refusals

    def send_message_batch(self, *, QueueUrl: str, Entries: list[Any]) -> dict[str, Any]:  # noqa: N803
        refused = [entry for entry in Entries if entry["Id"] == "1"] if self._refusals else []
        self._refusals -= bool(refused)
        self.accepted += [entry["MessageBody"] for entry in Entries if entry not in refused]
        return {"Failed": [{"Id": entry["Id"]} for entry in refused]}


def test_an_entry_that_the_queue_refused_is_sent_again() -> None:
    client: Any = _Refusing(2)
    SqsEmbeddingQueue(client, fresh_url="f", backfill_url="b").send(
        [_job(number, bulk=False) for number in range(3)]
    )
    assert len(client.accepted) == len(set(client.accepted)) == 3


def test_a_queue_that_keeps_refusing_is_unavailable() -> None:
    client: Any = _Refusing(99)
    queue = SqsEmbeddingQueue(client, fresh_url="f", backfill_url="b")
    with pytest.raises(UnavailableError):
        queue.send([_job(number, bulk=False) for number in range(3)])
