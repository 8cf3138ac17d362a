"""The functions behind queues and schedule, with the events that AWS sends."""

import json
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from archivolt.domain.erasure import Erasure, ErasureScope, Subject, erasure_message
from archivolt.domain.identity import Role
from archivolt.domain.ingestion import EmbeddingJob, Generation, IndexState
from archivolt.domain.job_messages import job_message
from archivolt.domain.paths import VaultPath
from archivolt.domain.sync import sync_message
from archivolt.entrypoints.events.batches import LambdaContext
from archivolt.entrypoints.events.embedding import build_embedding
from archivolt.entrypoints.events.indexing import build_indexing
from archivolt.entrypoints.events.reconcile import build_reconcile
from archivolt.entrypoints.events.retention import build_retention
from archivolt.governance.audit_sealing import AuditSealing
from archivolt.governance.erased_vaults import ErasedVaults
from archivolt.governance.erasing import ErasureWorker
from archivolt.governance.erasure_doors import ErasureDoors
from archivolt.governance.lost_calls import LostCalls
from archivolt.governance.retention import RetentionSweep
from archivolt.ingestion.announced import IndexAnnounced
from archivolt.ingestion.stray_changes import StrayChanges
from archivolt.ingestion.sync import SyncWorker
from archivolt.ingestion.sync_requests import LeasedSyncRequests
from archivolt.vaults.personal import PersonalVaults
from archivolt.vaults.sweep import OperationSweep
from tests.builders import ACME, ALICE, a_vault, vault_ref
from tests.fakes.audit import EmptyAuditChain, NoAuditSeals
from tests.fakes.clock import START, FrozenClock
from tests.fakes.erasures import InMemoryErasureQueue, InMemoryErasures
from tests.fakes.governance import InMemoryTenantSettings
from tests.fakes.ledger import unbounded_meter
from tests.fakes.operations import InMemoryOperations
from tests.fakes.retention import InMemoryAges, InMemoryPlace
from tests.fakes.sync import InMemorySyncLeases, InMemorySyncQueue
from tests.fakes.tenancy import InMemoryTenants
from tests.fakes.vaults import InMemoryVaults
from tests.index_world import IndexWorld

EVENTS = Path(__file__).parents[1] / "events"
NOTE = VaultPath("Été 2026/à+b (1).md")
VAULT = vault_ref("v1")


class Invocation:
    """A Lambda context as of the start of the indexing function: four minutes left."""

    def get_remaining_time_in_millis(self) -> int:
        return 240_000


def golden(name: str) -> dict[str, Any]:
    return json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def world() -> IndexWorld:
    world = IndexWorld()
    world.directory.create(a_vault("team", vault_id=VAULT.id), owner=ALICE)
    return world


def indexing(world: IndexWorld) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the indexing function over a world."""
    requests = LeasedSyncRequests(InMemorySyncLeases(world.clock), InMemorySyncQueue())
    strays = StrayChanges(world.directory, requests, world.clock)
    return build_indexing(lambda: IndexAnnounced(strays, world.index_changes))


@pytest.mark.parametrize("event", ["sqs_s3_object_created", "sqs_s3_notification"])
def test_the_indexing_function_indexes_what_s3_announces(world: IndexWorld, event: str) -> None:
    world.write(NOTE, "llamas here!", vault=VAULT)
    handler = indexing(world)
    assert handler(golden(event), Invocation()) == {"batchItemFailures": []}
    entry = world.catalogue.get(VAULT, NOTE)
    assert entry is not None
    assert entry.state is IndexState.PENDING


def test_the_indexing_function_gives_back_what_it_cannot_read_or_do(world: IndexWorld) -> None:
    batch = golden("sqs_s3_object_created")
    batch["Records"].append({"messageId": "broken", "body": "{"})
    world.line.take_down("read")
    handler = indexing(world)
    assert handler(batch, Invocation()) == {
        "batchItemFailures": [{"itemIdentifier": "message-1"}, {"itemIdentifier": "broken"}]
    }


@pytest.mark.parametrize("event", ["sqs_s3_test_event", "sqs_s3_object_acl_updated"])
def test_the_indexing_function_acknowledges_what_is_no_change(
    world: IndexWorld, event: str
) -> None:
    handler = indexing(world)
    assert handler(golden(event), Invocation()) == {"batchItemFailures": []}


def test_the_indexing_function_checks_deletions_with_the_store(world: IndexWorld) -> None:
    for name in ("marked.md", "purged.md"):
        world.settle(world.write(name, f"llamas {name}", vault=VAULT))
    etag = world.files.head(VAULT, VaultPath("marked.md")).etag
    world.files.delete(VAULT, VaultPath("marked.md"), expected=etag)
    handler = indexing(world)
    handler(golden("sqs_s3_object_deleted"), Invocation())
    states = {entry.path: entry.state for entry in world.catalogue.entries(VAULT)}
    assert states == {VaultPath("purged.md"): IndexState.INDEXED}


def test_the_embedding_function_works_off_jobs(world: IndexWorld) -> None:
    world.deliver(world.write(NOTE, "llamas"))
    [job] = world.queue.take()
    batch = golden("sqs_embedding_jobs")
    batch["Records"][0]["body"] = job_message(job)
    handler = build_embedding(lambda: world.embed_passages)
    assert handler(batch, Invocation()) == {"batchItemFailures": []}
    assert world.state(NOTE) is IndexState.INDEXED


def test_the_embedding_function_gives_back_what_is_no_job(world: IndexWorld) -> None:
    batch = golden("sqs_embedding_jobs")
    batch["Records"].append({"messageId": "broken", "body": "not a job"})
    handler = build_embedding(lambda: world.embed_passages)
    assert handler(batch, Invocation()) == {"batchItemFailures": [{"itemIdentifier": "broken"}]}


def test_the_recorded_job_is_what_the_queue_is_sent() -> None:
    [record] = golden("sqs_embedding_jobs")["Records"]
    job = EmbeddingJob(vault=VAULT, path=NOTE, generation=Generation("1790000000000000-0badc0de"))
    assert json.loads(record["body"]) == json.loads(job_message(job))


class Long(Invocation):
    """As of the start of the reconcile function."""

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


def test_the_reconcile_function_synchronises_for_users_and_gives_back_what_is_no_job(
    world: IndexWorld,
) -> None:
    world.write(NOTE, "llamas")
    leases, queue = InMemorySyncLeases(world.clock), InMemorySyncQueue()
    LeasedSyncRequests(leases, queue).request(ACME, ALICE)
    worker = SyncWorker(
        leases=leases,
        queue=queue,
        directory=world.directory,
        reconcile=world.reconcile,
        personal=PersonalVaults(world.directory, world.clock).make,
    )
    [job] = queue.take()
    records = [
        {"messageId": "m", "body": sync_message(job)},
        {"messageId": "broken", "body": "not a job"},
    ]
    handler = build_reconcile(pytest.fail, pytest.fail, lambda: worker)

    answer = handler({"Records": records}, Long())

    assert answer == {"batchItemFailures": [{"itemIdentifier": "broken"}]}
    assert world.state(NOTE) is IndexState.PENDING


def test_the_reconcile_function_answers_with_what_it_found(world: IndexWorld) -> None:
    world.write(NOTE, "llamas")
    sweep = OperationSweep(InMemoryOperations(), {}, world.clock)
    handler = build_reconcile(lambda: world.every_vault, lambda: sweep, pytest.fail)

    answer = handler(golden("schedule"), Long())
    assert (answer["vaults"], answer["compared"], answer["changed"]) == (2, 1, 1)
    assert answer["complete"] is True
    assert answer["operations"] == {"idle": 0, "finished": 0}
    json.dumps(answer)


def an_erasing(
    clock: FrozenClock, records: InMemoryErasures | None = None
) -> Callable[[], ErasureWorker]:
    people = InMemoryTenants()
    kept = records or InMemoryErasures()
    worker = ErasureWorker(
        kept,
        [],
        InMemoryErasureQueue(),
        doors=ErasureDoors(people, clock),
        vaults=ErasedVaults(kept, InMemoryVaults()),
        clock=clock,
        settle=timedelta(),
    )
    return lambda: worker


def an_erasure(erasure_id: str) -> Erasure:
    return Erasure(
        id=erasure_id,
        subject=Subject(scope=ErasureScope.VAULT, tenant=ACME, name="v"),
        asked_by="somebody",
        asked_role=Role.VIEWER,
        asked_at=START,
    )


class DaysOfExports:
    """`AgedExports` of some days."""

    def __init__(self, *days: date) -> None:
        self.days = days

    def remove(self, *, before: date, time_left: Callable[[], timedelta]) -> int:
        assert time_left() > timedelta()
        kept = tuple(day for day in self.days if day >= before)
        removed = len(self.days) - len(kept)
        self.days = kept
        return removed


def no_calls_lost() -> LostCalls:
    return LostCalls(unbounded_meter(), InMemoryTenants())


def test_the_retention_function_erases_what_its_queue_brings_and_gives_back_the_rest() -> None:
    clock, records = FrozenClock(), InMemoryErasures()
    records.add(an_erasure("e1"))
    handler = build_retention(
        pytest.fail,
        lambda: clock,
        pytest.fail,
        an_erasing(clock, records),
        pytest.fail,
        pytest.fail,
    )
    asked = [
        {"messageId": "m", "body": erasure_message("e1")},
        {"messageId": "gone", "body": erasure_message("nobody knows it")},
        {"messageId": "broken", "body": "not a job"},
    ]

    answer = handler({"Records": asked}, Long())

    assert answer == {"batchItemFailures": [{"itemIdentifier": "broken"}]}
    assert records.kept["e1"].is_complete


def test_the_retention_function_goes_on_daily_with_erasures_that_nobody_came_back_for() -> None:
    clock, records = FrozenClock(), InMemoryErasures()
    records.add(an_erasure("e1"))
    sweep = RetentionSweep(InMemoryAges(), InMemoryTenantSettings(), InMemoryPlace(), clock)
    sealing = AuditSealing(EmptyAuditChain(), NoAuditSeals(), clock)
    handler = build_retention(
        lambda: sweep,
        lambda: clock,
        lambda: sealing,
        an_erasing(clock, records),
        no_calls_lost,
        DaysOfExports,
    )

    handler(golden("schedule"), Long())

    assert records.unfinished() == []


def test_the_retention_function_answers_with_its_counts_and_measures_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock, ages = FrozenClock(), InMemoryAges()
    exports = DaysOfExports(START.date() - timedelta(days=364), START.date() - timedelta(days=365))
    ages.add(ACME, "old", START - timedelta(days=91))
    ages.add(ACME, "young", START - timedelta(days=9, hours=1))
    sweep = RetentionSweep(ages, InMemoryTenantSettings(), InMemoryPlace(), clock)
    sealing = AuditSealing(EmptyAuditChain(), NoAuditSeals(), clock)
    handler = build_retention(
        lambda: sweep,
        lambda: clock,
        lambda: sealing,
        an_erasing(clock),
        no_calls_lost,
        lambda: exports,
    )

    assert handler({"dry_run": True}, Long())["due"] == 1
    assert capsys.readouterr().out == ""
    answer = handler(golden("schedule"), Long())

    assert (answer["purged"], answer["failed"], answer["oldest_kept_days"]) == (1, 0, 9)
    assert (answer["audit_days"], answer["audit_complete"]) == (0, True)
    assert (answer["audit_exports_removed"], len(exports.days)) == (1, 1)
    assert (answer["lost_calls_ended"], answer["lost_calls_complete"]) == (0, True)
    measured = json.loads(capsys.readouterr().out)
    names = [each["Name"] for each in measured["_aws"]["CloudWatchMetrics"][0]["Metrics"]]
    assert {"purged", "failed", "oldest_kept_days", "complete"} <= set(names)
    assert measured["purged"] == [1.0]
    json.dumps(answer)
