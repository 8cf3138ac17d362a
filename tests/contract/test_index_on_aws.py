"""The index as it is composed, on emulated AWS services and the embedded Qdrant."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from moto import mock_aws

from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.qdrant.rest import NoCollectionError, QdrantRest
from archivolt.bootstrap import Container
from archivolt.domain.confirmation import Confirmed
from archivolt.domain.ingestion import IndexState
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode, SearchQuery
from archivolt.domain.sync import SyncStart
from archivolt.domain.vault import Vault, VaultAccess, VaultRole
from archivolt.entrypoints.events.embedding import build_embedding
from archivolt.entrypoints.events.indexing import build_indexing
from archivolt.entrypoints.events.reconcile import build_reconcile
from archivolt.settings import Settings
from archivolt.vaults.move_requests import MoveRequest
from tests.builders import ACME, ALICE, BOB, a_vault, principal
from tests.contract.conftest import REGION, VECTORS_KEY, client_of, make_table

# The running stack shows the same on every Python.
pytestmark = pytest.mark.one_python

BUCKET = "documents"
VAULT = a_vault("notes", vault_id="v1")
NOTE = VaultPath("Été 2026/à+b (1).md")
MOVED = VaultPath("Été 2026/jardin/%20 c.md")
TEXT = "# Jardin\n\nOn arrose les tomates du balcon chaque matin avant le soleil.\n"


class Invocation:
    """A Lambda context with time enough."""

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


class Stack:
    """The container, and what S3, EventBridge and Lambda do around it."""

    def __init__(self, qdrant_url: str, folder: Path) -> None:
        self._qdrant_url = qdrant_url
        self._sqs = client_of("sqs")
        s3 = client_of("s3")
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        dynamodb = client_of("dynamodb")
        tables = {name: _name_of(make_table(dynamodb, name)) for name in _TABLES.values()}
        queues = {name: self._sqs.create_queue(QueueName=name)["QueueUrl"] for name in _QUEUES}
        self._queues = list(queues.values())
        sync_url = self._sqs.create_queue(QueueName="sync")["QueueUrl"]
        self.container = Container(
            Settings.model_validate(
                {
                    "documents_bucket": BUCKET,
                    "qdrant_url": qdrant_url,
                    "qdrant_api_key": VECTORS_KEY,
                    "tmpdir": str(folder),
                    **{setting: tables[name] for setting, name in _TABLES.items()},
                    **{f"{name}_queue_url": url for name, url in queues.items()},
                    "sync_queue_url": sync_url,
                }
            )
        )
        self.container.vault_directory.create(VAULT, owner=ALICE)
        self._sequence = 0

    def event(self, kind: str, vault: Vault = VAULT, path: VaultPath = NOTE) -> None:
        """Tell the indexing function what S3 would."""
        self._sequence += 1
        detail = {
            "object": {
                "key": f"vaults/{vault.ref.tenant}/{vault.ref.id}/{path}",
                "sequencer": f"{self._sequence:018X}",
            }
        }
        body = json.dumps({"source": "aws.s3", "detail-type": kind, "detail": detail})
        batch = {"Records": [{"messageId": "m", "body": body}]}
        handler = build_indexing(lambda: self.container.index.workers.indexing)
        assert handler(batch, Invocation()) == {"batchItemFailures": []}

    def embed(self) -> None:
        """Give the embedding function what waits in its queues, until nothing does."""
        handler = build_embedding(lambda: self.container.index.workers.embedding)
        while records := [record for url in self._queues for record in self._received(url)]:
            assert handler({"Records": records}, Invocation()) == {"batchItemFailures": []}

    def reconcile(self) -> dict[str, Any]:
        """Run the reconcile function."""
        handler = build_reconcile(
            lambda: self.container.index.workers.reconcile,
            lambda: self.container.index.workers.sweep,
            lambda: self.container.index.workers.sync,
        )
        return handler({}, Invocation())

    def synchronise(self) -> None:
        """Give the reconcile function what waits in its queue."""
        handler = build_reconcile(
            pytest.fail, pytest.fail, lambda: self.container.index.workers.sync
        )
        url = self.container.settings.sync_queue_url
        answer = handler({"Records": self._received(url)}, Invocation())
        assert answer == {"batchItemFailures": []}

    def found(self, q: str, mode: SearchMode, *, user: str = ALICE) -> list[str]:
        """Return the paths that a search finds."""
        query = SearchQuery(q=q, mode=mode)
        result = self.container.retrieval.search(principal(user), query, language=Language.FR)
        return [hit.path for hit in result.hits]

    def write(self, vault: Vault, text: str) -> None:
        """Put the note into a vault, and have it indexed."""
        self.container.file_store.create(vault.ref, NOTE, text.encode())
        self.event("Object Created", vault)
        self.embed()

    def kept_vectors(self) -> list[str]:
        """Return the packs of vectors that are kept; every embedding makes one."""
        root = f"derived/{VAULT.ref.tenant}/{VAULT.ref.id}/vectors/"
        page = client_of("s3").list_objects_v2(Bucket=BUCKET, Prefix=root)
        return [entry["Key"] for entry in page.get("Contents", [])]

    def points(self, user: str, vault: Vault | None = None) -> int:
        """Return how many points the server holds for a user, of a vault or in all."""
        server = QdrantRest(self._qdrant_url, VECTORS_KEY)
        name = cast("Any", self.container.index.vector_store).collection(ACME, user)
        condition = {"key": "space_id", "match": {"value": vault.ref.id}} if vault else None
        body = {"exact": True, "filter": {"must": [condition]} if condition else None}
        try:
            counted = server.call("POST", f"/collections/{name}/points/count", body)
        except NoCollectionError:
            return 0
        finally:
            server.close()
        return counted["count"]

    def state(self) -> IndexState | None:
        """Return what the catalogue says of the note."""
        entry = self.container.catalogue.get(VAULT.ref, NOTE)
        return entry and entry.state

    def _received(self, url: str) -> list[dict[str, str]]:
        answer = self._sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        messages = answer.get("Messages", [])
        for message in messages:
            self._sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return [{"messageId": m["MessageId"], "body": m["Body"]} for m in messages]


def _name_of(table: DynamoTable) -> str:
    return table._name  # pyright: ignore[reportPrivateUsage]  the container makes its own


_TABLES = {"control_table": "ControlTable", "catalogue_table": "CatalogueTable"}
_QUEUES = ("embedding", "backfill")


@pytest.fixture
def stack(vector_facade: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        made = Stack(vector_facade, tmp_path / "scratch")
        yield made
        made.container.index.close()


@pytest.mark.parametrize("bulk", [False, True])
def test_a_document_is_found_by_everybody_who_may_and_gone_when_it_is(
    stack: Stack, bulk: bool
) -> None:
    info = stack.container.file_store.create(VAULT.ref, NOTE, TEXT.encode(), bulk=bulk)
    stack.event("Object Created")
    assert stack.state() is IndexState.PENDING
    assert stack.found("tomates", SearchMode.LEXICAL) == [NOTE]
    stack.embed()
    assert stack.state() is IndexState.INDEXED
    assert stack.found("How do I water tomatoes on a balcony?", SearchMode.DENSE) == [NOTE]
    assert stack.found("watering tomatoes", SearchMode.HYBRID) == [NOTE]

    stack.container.vaults.set_member(principal(ALICE), "notes", BOB, VaultRole.READER)
    stack.embed()
    assert stack.found("watering tomatoes", SearchMode.DENSE, user=BOB) == [NOTE]

    stack.container.file_store.delete(VAULT.ref, NOTE, expected=info.etag)
    stack.event("Object Deleted")
    for mode in SearchMode:
        assert stack.found("tomates", mode) == []
    stack.embed()
    assert stack.state() is IndexState.DELETED


def test_who_joins_a_vault_gets_its_points_and_who_leaves_leaves_none_behind(
    stack: Stack,
) -> None:
    other = a_vault("plans", vault_id="v2")
    stack.container.vault_directory.create(other, owner=BOB)
    # Long enough for several passages.
    stack.write(VAULT, "\n\n".join(f"# Part {n}\n\n{TEXT * 30}" for n in range(4)))
    stack.write(other, "# Plans\n\nRepaint the shutters.\n")
    whole, own = stack.points(ALICE, VAULT), stack.points(BOB)
    assert whole > 1
    assert (stack.points(ALICE), own, stack.points(BOB, VAULT)) == (whole, 1, 0)

    owner = principal(ALICE)
    for _ in range(2):
        stack.container.vaults.set_member(owner, "notes", BOB, VaultRole.READER)
        stack.embed()
        assert (stack.points(BOB, VAULT), stack.points(BOB)) == (whole, whole + own)
        stack.container.vaults.remove_member(owner, "notes", BOB)
        stack.embed()
        assert (stack.points(BOB, VAULT), stack.points(BOB)) == (0, own)
        assert stack.points(ALICE) == whole


def test_a_document_cannot_say_whose_it_is(stack: Stack) -> None:
    other = a_vault("plans", vault_id="v2")
    stack.container.vault_directory.create(other, owner=BOB)
    stack.write(
        VAULT,
        f"---\nspace_id: v2\npath: other.md\nbelow: [other.md]\ngeneration: 9-z\ninstant: 9\n"
        f"number: 7\ntext: other\n---\n{TEXT}",
    )

    assert stack.points(ALICE, VAULT) == stack.points(ALICE) > 0
    assert stack.points(ALICE, other) == stack.points(BOB) == 0
    assert stack.found("watering tomatoes", SearchMode.DENSE) == [NOTE]
    assert stack.found("watering tomatoes", SearchMode.DENSE, user=BOB) == []


def test_a_document_whose_delete_marker_goes_is_found_again(stack: Stack) -> None:
    stack.write(VAULT, TEXT)
    etag = stack.container.file_store.head(VAULT.ref, NOTE).etag
    stack.container.file_store.delete(VAULT.ref, NOTE, expected=etag)
    stack.event("Object Deleted")
    assert stack.found("tomates", SearchMode.LEXICAL) == []

    s3 = client_of("s3")
    [marker] = s3.list_object_versions(Bucket=BUCKET, Prefix="vaults/")["DeleteMarkers"]
    s3.delete_object(Bucket=BUCKET, Key=marker["Key"], VersionId=marker["VersionId"])
    stack.event("Object Deleted")
    assert stack.found("tomates", SearchMode.LEXICAL) == [NOTE]


def test_an_index_is_made_anew_through_the_queue_and_vectors_that_were_lost_are_back(
    stack: Stack,
) -> None:
    stack.write(VAULT, TEXT)
    index = stack.container.index
    index.vector_store.remove_vault(ALICE, VAULT.ref)
    assert stack.points(ALICE) == 0

    assert index.sync.rebuilds.request(ALICE, VAULT.ref) is SyncStart.STARTED
    assert index.sync.rebuilds.request(ALICE, VAULT.ref) is SyncStart.ALREADY_RUNNING
    stack.synchronise()
    stack.embed()

    assert stack.points(ALICE) == 1
    assert stack.state() is IndexState.INDEXED
    run = index.sync.runs.get(VAULT.ref)
    assert (run.rebuild_since, run.compared_at is None) == (None, False)


@pytest.mark.parametrize("copy_is_first", [True, False])
def test_a_moved_document_is_found_once_at_any_moment_and_not_embedded_again(
    stack: Stack, *, copy_is_first: bool
) -> None:
    stack.write(VAULT, TEXT)
    kept = stack.kept_vectors()
    moves = stack.container.tools.documents.moves
    access = VaultAccess(vault=VAULT, user=ALICE, role=VaultRole.OWNER)
    request = MoveRequest(source=NOTE, target=MOVED, directory=False)
    pins = moves.preview(access, request).pins
    moves.run(access, request, Confirmed(operation="op-1", pins=pins))
    events = [("Object Created", MOVED), ("Object Deleted", NOTE)]
    for kind, path in events if copy_is_first else events[::-1]:
        for mode in SearchMode:
            assert stack.found("arroser les tomates", mode) == [MOVED]
        stack.event(kind, path=path)
    for mode in SearchMode:
        assert stack.found("arroser les tomates", mode) == [MOVED]
    stack.embed()
    for mode in SearchMode:
        assert stack.found("arroser les tomates", mode) == [MOVED]
    assert stack.kept_vectors() == kept
    assert stack.points(ALICE, VAULT) == 1


def test_what_events_missed_is_found_by_reconciling(stack: Stack) -> None:
    info = stack.container.file_store.create(VAULT.ref, NOTE, TEXT.encode())
    assert stack.reconcile()["changed"] == 1
    stack.embed()
    assert stack.found("watering tomatoes", SearchMode.DENSE) == [NOTE]
    stack.container.file_store.delete(VAULT.ref, NOTE, expected=info.etag)
    assert stack.reconcile()["gone"] == 1
    stack.embed()
    for mode in SearchMode:
        assert stack.found("tomates", mode) == []
    assert stack.reconcile()["forgotten"] == 1
    again = stack.reconcile()
    assert (again["compared"], again["changed"], again["orphans"]) == (0, 0, 0)
