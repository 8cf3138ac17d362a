"""The embedding queues and the cache of vectors, on the fakes and on emulators."""

from array import array
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from archivolt.adapters.dynamodb.vector_places import DynamoVectorPlaces
from archivolt.adapters.s3.vector_cache import S3VectorCache
from archivolt.adapters.sqs.embedding_queue import SqsEmbeddingQueue
from archivolt.domain.errors import UnavailableError
from archivolt.domain.ingestion import EmbeddingJob, Generation
from archivolt.domain.job_messages import parse_job
from archivolt.domain.paths import VaultPath
from archivolt.ports.ingestion import VectorCache
from tests.builders import BOB, vault_ref
from tests.contract.conftest import FAKE, REGION, NewTable, client_of, on_tables
from tests.fakes.embedding import InMemoryVectorCache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from types_boto3_s3 import S3Client
    from types_boto3_sqs import SQSClient

VAULT, OTHER = vault_ref("v1"), vault_ref("v2")
BUCKET = "documents"
CONTENT, NEWER = "ab" * 32, "cd" * 32
A, B, C = ("0a" * 20, "0b" * 20, "0c" * 20)


@pytest.fixture
def cache(store: str, request: pytest.FixtureRequest) -> VectorCache:
    if store == FAKE:
        return InMemoryVectorCache()
    return on_aws(request.getfixturevalue("new_table"), request.getfixturevalue("moto_s3"))


def on_aws(new_table: NewTable, client: "S3Client") -> S3VectorCache:
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    return S3VectorCache(client, BUCKET, DynamoVectorPlaces(new_table("CatalogueTable")))


def loaded(cache: VectorCache, *digests: str, model: str = "m/1") -> dict[str, list[float]]:
    found = cache.load(VAULT, digests, model)
    return {digest: list(each.vector) for digest, each in found.items()}


def test_a_text_has_the_vector_that_was_made_of_it(cache: VectorCache) -> None:
    cache.store(VAULT, CONTENT, "m/1", {A: array("f", [0.25, -0.5]), B: [1.0, 0.0]})
    assert loaded(cache, B, C, A) == {A: [0.25, -0.5], B: [1.0, 0.0]}
    assert cache.load(VAULT, [A], "m/1")[A].sha256 == CONTENT


def test_a_text_is_known_by_no_other_model_and_in_no_other_vault(cache: VectorCache) -> None:
    cache.store(VAULT, CONTENT, "m/1", {A: [1.0]})
    assert cache.load(VAULT, [A], "m/2") == {}
    assert cache.load(OTHER, [A], "m/1") == {}
    assert cache.load(VAULT, [], "m/1") == {}


def test_a_content_keeps_what_it_is_given_piece_by_piece(cache: VectorCache) -> None:
    cache.store(VAULT, CONTENT, "m/1", {A: [1.0], B: [0.5]})
    cache.store(VAULT, CONTENT, "m/1", {C: [0.0]})
    cache.store(VAULT, CONTENT, "m/1", {})
    assert loaded(cache, A, B, C) == {A: [1.0], B: [0.5], C: [0.0]}


def test_a_text_outlives_the_content_it_was_first_stored_for(cache: VectorCache) -> None:
    cache.store(VAULT, CONTENT, "m/1", {A: [1.0], B: [0.5]})
    cache.store(VAULT, NEWER, "m/1", {A: [1.0], C: [0.0]})
    cache.forget(VAULT, CONTENT)
    assert loaded(cache, A, B, C) == {A: [1.0], C: [0.0]}
    assert cache.load(VAULT, [A], "m/1")[A].sha256 == NEWER


def test_more_texts_than_one_request_takes_are_kept_and_forgotten(cache: VectorCache) -> None:
    many = {f"{number:040x}": [float(number)] for number in range(230)}
    cache.store(VAULT, CONTENT, "m/1", many)
    assert loaded(cache, *many) == many
    cache.forget(VAULT, CONTENT)
    assert loaded(cache, *many) == {}


def test_a_content_is_forgotten_under_every_model_of_its_vault(cache: VectorCache) -> None:
    for vault in (VAULT, OTHER):
        for model in ("m/1", "m/2"):
            cache.store(vault, CONTENT, model, {A: [1.0]})
    cache.forget(VAULT, CONTENT)
    cache.forget(VAULT, CONTENT)
    assert cache.load(VAULT, [A], "m/1") == cache.load(VAULT, [A], "m/2") == {}
    assert list(cache.contents(VAULT)) == []
    assert list(cache.contents(OTHER)) == [CONTENT]
    assert set(cache.load(OTHER, [A], "m/2")) == {A}


@on_tables
@pytest.mark.parametrize("damage", [b"", b"AVVC", b"x" * 40, b"AVVC" + b"\2\0\0\0" * 3, None])
def test_what_cannot_be_read_or_is_gone_counts_as_absent(
    new_table: NewTable, moto_s3: "S3Client", damage: bytes | None
) -> None:
    cache = on_aws(new_table, moto_s3)
    cache.store(VAULT, CONTENT, "m/1", {A: [1.0]})
    for stored in moto_s3.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        key = stored.get("Key", "")
        if damage is None:
            moto_s3.delete_object(Bucket=BUCKET, Key=key)
        else:
            moto_s3.put_object(Bucket=BUCKET, Key=key, Body=damage)
    assert cache.load(VAULT, [A], "m/1") == {}
    cache.store(VAULT, CONTENT, "m/1", {A: [0.5]})
    assert loaded(cache, A) == {A: [0.5]}


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


def test_what_is_to_be_done_later_waits(sqs: "SQSClient") -> None:
    fresh = sqs.create_queue(QueueName="fresh-later")["QueueUrl"]
    backfill = sqs.create_queue(QueueName="backfill-later")["QueueUrl"]
    queue = SqsEmbeddingQueue(sqs, fresh_url=fresh, backfill_url=backfill)
    queue.send_later([_job(1, bulk=True)], after=timedelta(minutes=1))
    assert _received(sqs, backfill) == []
    delayed = "ApproximateNumberOfMessagesDelayed"
    told = sqs.get_queue_attributes(QueueUrl=backfill, AttributeNames=[delayed])
    assert told.get("Attributes", {}) == {delayed: "1"}


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
