"""What every `OperationStore` promises."""

from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.operations import DynamoOperations
from archivolt.domain.limits import OPERATION_KEPT_DAYS
from archivolt.ports.operations import Operation, OperationKind, OperationStore
from tests.builders import ALICE, GLOBEX, vault_ref
from tests.contract.conftest import FAKE, MINISTACK, NewBucket, NewTable, on_tables
from tests.fakes.clock import START
from tests.fakes.operations import InMemoryOperations

VAULT = vault_ref()
MANIFEST = [("Été/à+b (1).md", "e1"), ("b.md", "e2")]
LATER = START + timedelta(seconds=5)


def an_operation(operation_id: str = "op-1", *, minutes: int = 0) -> Operation:
    started = START + timedelta(minutes=minutes)
    return Operation(
        id=operation_id,
        vault=VAULT,
        user=ALICE,
        kind=OperationKind.MOVE,
        started_at=started,
        updated_at=started,
        total=2,
        parameters={"from": "Été", "to": "Hiver"},
    )


@pytest.fixture
def operations(store: str, request: pytest.FixtureRequest, new_bucket: NewBucket) -> OperationStore:
    if store == FAKE:
        return InMemoryOperations()
    return DynamoOperations(
        request.getfixturevalue("new_table")("ControlTable"), *new_bucket(MINISTACK)
    )


def test_an_operation_is_noted_with_its_files(operations: OperationStore) -> None:
    assert operations.start(an_operation(), MANIFEST) == an_operation()

    assert operations.get(VAULT, "op-1") == an_operation()
    assert list(operations.manifest(an_operation())) == MANIFEST


def test_who_starts_it_again_gets_what_was_noted(operations: OperationStore) -> None:
    operations.start(an_operation(), MANIFEST)
    operations.progress(an_operation(), done=1, finished=False, now=LATER)

    again = operations.start(replace(an_operation(minutes=5), total=9), [("other.md", "e9")])

    assert again == replace(an_operation(), done=1, updated_at=LATER)
    assert list(operations.manifest(again)) == MANIFEST


def test_an_operation_of_another_vault_is_none(operations: OperationStore) -> None:
    operations.start(an_operation(), MANIFEST)

    for vault in (vault_ref("v2"), vault_ref(tenant=GLOBEX)):
        assert operations.get(vault, "op-1") is None
        assert operations.operations(vault) == []
    for unknown in ("", "op", "op-11", "\ud800", "x" * 3_000):
        assert operations.get(VAULT, unknown) is None


def test_progress_never_goes_back(operations: OperationStore) -> None:
    operation = operations.start(an_operation(), MANIFEST)
    operations.progress(operation, done=1, finished=False, now=LATER)
    operations.progress(operation, done=0, finished=False, now=LATER)

    assert operations.get(VAULT, "op-1") == replace(operation, done=1, updated_at=LATER)

    operations.progress(operation, done=2, finished=True, now=LATER)
    operations.progress(operation, done=2, finished=False, now=LATER)
    finished = operations.get(VAULT, "op-1")
    assert finished == replace(operation, done=2, finished=True, updated_at=LATER)


def test_operations_are_listed_the_newest_first(operations: OperationStore) -> None:
    for number in (2, 1, 3):
        operations.start(an_operation(f"op-{number}", minutes=number), MANIFEST)
    operations.progress(an_operation("op-2"), done=2, finished=True, now=LATER)

    assert [one.id for one in operations.operations(VAULT)] == ["op-3", "op-2", "op-1"]


def test_the_unfinished_operations_of_every_vault_are_found(operations: OperationStore) -> None:
    elsewhere = replace(an_operation("op-2"), vault=vault_ref(tenant=GLOBEX))
    for operation in (an_operation(), elsewhere, an_operation("op-3")):
        operations.start(operation, MANIFEST)
    operations.progress(an_operation("op-3"), done=2, finished=True, now=LATER)

    found = operations.unfinished()

    assert sorted(found, key=lambda one: one.id) == [an_operation(), elsewhere]


@on_tables
def test_a_finished_operation_is_forgotten_some_days_later(
    new_table: NewTable, new_bucket: NewBucket
) -> None:
    table = new_table("ControlTable")
    operations = DynamoOperations(table, *new_bucket(MINISTACK))
    operation = operations.start(an_operation(), MANIFEST)
    [unfinished] = table.items("OPERATIONS#acme#v1")
    operations.progress(operation, done=2, finished=True, now=LATER)
    [finished] = table.items("OPERATIONS#acme#v1")

    assert "ttl" not in unfinished
    expected = LATER + timedelta(days=OPERATION_KEPT_DAYS)
    assert finished["ttl"] == int(expected.timestamp())


def test_the_manifest_is_marked_for_the_buckets_lifecycle(
    new_local_table: NewTable, new_bucket: NewBucket
) -> None:
    client, bucket = new_bucket(MINISTACK)
    DynamoOperations(new_local_table("ControlTable"), client, bucket).start(
        an_operation(), MANIFEST
    )

    [manifest] = client.list_objects_v2(Bucket=bucket).get("Contents", [])
    key = manifest.get("Key", "")
    assert key.startswith("derived/acme/v1/operations/op-1/")
    tags = client.get_object_tagging(Bucket=bucket, Key=key)["TagSet"]
    assert tags == [{"Key": "archivolt-kind", "Value": "operation"}]
