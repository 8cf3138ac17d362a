"""A synchronisation that a user asks for: once at a time, of their vaults, to the end."""

import pytest

from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.ingestion import IndexState
from archivolt.domain.limits import SYNC_LEASE_SECONDS
from archivolt.domain.paths import VaultPath
from archivolt.domain.sync import SyncJob, SyncKind, SyncStart, parse_sync, sync_message
from archivolt.domain.vault import VaultId
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_vault, vault_ref
from tests.index_world import plenty
from tests.sync_world import SyncWorld, running_out_after


@pytest.fixture
def world() -> SyncWorld:
    return SyncWorld()


def test_a_second_request_finds_the_first_one_running_until_it_is_done(world: SyncWorld) -> None:
    world.write("a.md", "llamas")
    assert world.requests.request(ACME, ALICE) is SyncStart.STARTED
    assert world.requests.request(ACME, ALICE) is SyncStart.ALREADY_RUNNING

    assert world.work() == []

    assert world.found("llamas") == ["a.md"]
    assert world.requests.request(ACME, ALICE) is SyncStart.STARTED


def test_only_the_vaults_of_the_user_are_compared(world: SyncWorld) -> None:
    bobs = world.new_vault("bobs", owner=BOB)
    world.write("a.md", "llamas")
    world.write("b.md", "llamas too", vault=bobs)
    world.requests.request(ACME, BOB)
    world.work()

    assert [entry.path for entry in world.catalogue.entries(bobs)] == ["b.md"]
    assert not list(world.catalogue.entries(world.vault))


def test_a_vault_that_is_not_the_users_is_not_compared_though_it_is_named(
    world: SyncWorld,
) -> None:
    world.write("a.md", "llamas")
    world.requests.request(ACME, BOB, world.vault.id)
    world.work()

    assert not list(world.catalogue.entries(world.vault))


def test_one_vault_can_be_named(world: SyncWorld) -> None:
    other = world.new_vault("other")
    world.write("a.md", "llamas")
    world.write("b.md", "alpacas", vault=other)
    world.requests.request(ACME, ALICE, other.id)
    world.work()

    assert world.found("alpacas") == ["b.md"]
    assert world.found("llamas") == []


def test_nothing_runs_when_it_could_not_be_queued(world: SyncWorld) -> None:
    world.line.take_down("send")
    with pytest.raises(UnavailableError):
        world.requests.request(ACME, ALICE)
    world.line.calm()

    assert world.requests.request(ACME, ALICE) is SyncStart.STARTED


def test_a_worker_that_dies_frees_the_user_after_a_while_and_its_message_does_nothing_more(
    world: SyncWorld,
) -> None:
    world.requests.request(ACME, ALICE)
    [lost] = world.jobs.take()
    world.clock.advance(seconds=SYNC_LEASE_SECONDS)
    world.write("a.md", "llamas")
    assert world.requests.request(ACME, ALICE) is SyncStart.STARTED

    world.worker.run({"late": lost}, time_left=plenty)

    assert not list(world.catalogue.entries(world.vault))
    assert world.requests.request(ACME, ALICE) is SyncStart.ALREADY_RUNNING


def test_a_job_that_fails_is_delivered_again_under_its_lease(world: SyncWorld) -> None:
    world.write("a.md", "llamas")
    world.requests.request(ACME, ALICE)
    [job] = world.jobs.take()
    world.line.take_down("accessible")
    assert world.worker.run({"m": job}, time_left=plenty).failed == ["m"]
    assert world.requests.request(ACME, ALICE) is SyncStart.ALREADY_RUNNING
    world.line.calm()

    assert world.worker.run({"m": job}, time_left=plenty).failed == []
    world.embed()

    assert world.found("llamas") == ["a.md"]


@pytest.mark.parametrize("asked", range(4))
def test_what_runs_out_of_time_goes_on_under_the_same_lease(world: SyncWorld, asked: int) -> None:
    second = world.new_vault("second")
    world.write("a.md", "llamas")
    world.write("b.md", "alpacas", vault=second)
    world.requests.request(ACME, ALICE)
    [job] = world.jobs.take()
    world.worker.run({"m": job}, time_left=running_out_after(asked))
    [rest] = world.jobs.jobs
    assert (rest.lease, rest.runs) == (job.lease, 1)
    assert rest.at
    assert world.requests.request(ACME, ALICE) is SyncStart.ALREADY_RUNNING

    while world.jobs.jobs:
        world.work()
    assert world.found("llamas") == ["a.md"]
    assert world.found("alpacas") == ["b.md"]
    assert world.requests.request(ACME, ALICE) is SyncStart.STARTED


def test_only_the_vaults_in_reach_of_the_token_are_compared(world: SyncWorld) -> None:
    other = world.new_vault("other", owner=ALICE)
    world.write("a.md", "llamas")
    world.write("b.md", "llamas too", vault=other)
    world.requests.request(ACME, ALICE, reach=frozenset({other.id}))
    world.work()

    assert [entry.path for entry in world.catalogue.entries(other)] == ["b.md"]
    assert not list(world.catalogue.entries(world.vault))


@pytest.mark.parametrize("reach", [frozenset[str](), frozenset({"v", "w"})])
def test_the_reach_of_a_job_survives_its_message(reach: frozenset[str]) -> None:
    job = SyncJob(tenant=ACME, user=ALICE, lease="l", reach=reach)
    assert parse_sync(sync_message(job)) == job


def test_a_job_survives_its_message() -> None:
    job = SyncJob(tenant=ACME, user=ALICE, lease="l", vault=VaultId("v"), at=vault_ref().id, runs=3)
    assert parse_sync(sync_message(job)) == job
    whole = SyncJob(tenant=ACME, user=ALICE, lease="l")
    assert parse_sync(sync_message(whole)) == whole


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"version": 2}', '{"version": 1}'])
def test_what_is_no_job_is_refused(body: str) -> None:
    with pytest.raises(InvalidRequestError):
        parse_sync(body)


def test_every_vault_of_a_tenant_and_of_no_other_is_compared(world: SyncWorld) -> None:
    theirs = world.new_vault("theirs", owner=BOB)
    elsewhere = a_vault("elsewhere", tenant=GLOBEX)
    world.directory.create(elsewhere, owner=BOB)
    for vault in (world.vault, theirs, elsewhere.ref):
        world.write("a.md", "llamas", vault=vault)
    job = SyncJob(tenant=ACME, user=ALICE, kind=SyncKind.TENANT)
    world.jobs.send(parse_sync(sync_message(job)))

    assert world.work() == []

    known = [world.catalogue.get(vault, VaultPath("a.md")) for vault in (world.vault, theirs)]
    assert [entry and entry.state for entry in known] == [IndexState.INDEXED] * 2
    assert world.catalogue.get(elsewhere.ref, VaultPath("a.md")) is None
