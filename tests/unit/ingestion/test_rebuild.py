"""Making the index of a vault anew: what is derived is, and searches never miss what is there."""

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.ingestion import IndexState
from archivolt.domain.limits import REBUILD_SECONDS
from archivolt.domain.search import SearchMode
from archivolt.domain.sync import SyncJob, SyncKind, SyncStart
from tests.builders import ACME, ALICE
from tests.index_world import plenty
from tests.sync_world import SyncWorld, running_out_after


def rebuild(world: SyncWorld) -> SyncStart:
    """Ask for the vault to be rebuilt, a while after all that happened."""
    world.clock.advance(seconds=60)
    return world.rebuilds.request(ALICE, world.vault)


@pytest.fixture
def world() -> SyncWorld:
    world = SyncWorld()
    world.settle(world.write("a.md", "llamas eat hay"), world.write("b.md", "alpacas eat grass"))
    return world


def test_everything_is_made_anew_and_nothing_is_embedded_again(world: SyncWorld) -> None:
    before = world.entry("a.md")
    embedded = len(world.embedder.embedded)
    assert rebuild(world) is SyncStart.STARTED
    assert world.work() == []

    after = world.entry("a.md")
    assert after.generation > before.generation
    assert (after.state, after.passages) == (IndexState.INDEXED, before.passages)
    assert len(world.embedder.embedded) == embedded
    assert world.found("hay") == ["a.md"]
    assert world.points("a.md") == before.passages


def test_what_was_lost_of_the_words_and_of_the_vectors_is_there_again(world: SyncWorld) -> None:
    world.text_index.lose(world.vault)
    world.vectors.lose(ACME, ALICE)
    assert world.found("hay") == []
    rebuild(world)
    world.work()

    assert world.found("hay", mode=SearchMode.LEXICAL) == ["a.md"]
    assert "b.md" in world.found("alpacas eat grass", mode=SearchMode.DENSE)


def test_until_it_is_replaced_the_old_index_answers(world: SyncWorld) -> None:
    rebuild(world)
    assert world.found("hay") == ["a.md"]

    jobs = {str(number): job for number, job in enumerate(world.jobs.take())}
    world.worker.run(jobs, time_left=plenty)

    # Its vectors are still to come: those that it had stand for them.
    assert world.state("a.md") is IndexState.PENDING
    assert world.found("hay") == ["a.md"]
    assert "a.md" in world.found("llamas eat hay", mode=SearchMode.DENSE)
    assert "alpacas" not in world.search("llamas eat hay", mode=SearchMode.DENSE).hits[0].excerpt


def test_asking_again_while_it_is_under_way_begins_nothing(world: SyncWorld) -> None:
    rebuild(world)
    assert rebuild(world) is SyncStart.ALREADY_RUNNING
    assert len(world.jobs.jobs) == 1

    world.work()
    assert rebuild(world) is SyncStart.STARTED


def test_it_tells_how_far_it_is_and_when_it_is_over(world: SyncWorld) -> None:
    rebuild(world)
    since = world.clock.now()
    assert world.runs.get(world.vault).rebuild_since == since

    world.clock.advance(seconds=5)
    world.work()

    run = world.runs.get(world.vault)
    assert (run.rebuild_since, run.compared_at) == (None, world.clock.now())


def test_what_ran_out_of_time_goes_on_with_what_is_left(world: SyncWorld) -> None:
    rebuild(world)
    [job] = world.jobs.take()
    assert world.worker.run({"m": job}, time_left=running_out_after(0)).failed == []
    [rest] = world.jobs.jobs
    assert (rest.kind, rest.vault, rest.runs) == (SyncKind.REBUILD, world.vault.id, 1)
    assert world.runs.get(world.vault).rebuild_since is not None

    world.work()
    assert world.runs.get(world.vault).rebuild_since is None


def test_delivered_twice_it_makes_nothing_anew_twice(world: SyncWorld) -> None:
    rebuild(world)
    [job] = world.jobs.take()
    world.clock.advance(seconds=1)
    world.worker.run({"m": job}, time_left=plenty)
    world.embed()
    generation = world.entry("a.md").generation

    world.worker.run({"m": job}, time_left=plenty)

    assert world.entry("a.md").generation == generation


def test_a_lost_job_is_made_up_for_by_the_daily_comparison(world: SyncWorld) -> None:
    before = world.entry("a.md").generation
    rebuild(world)
    world.jobs.take()
    world.clock.advance(seconds=1)
    world.reconciled()

    assert world.entry("a.md").generation > before
    assert world.runs.get(world.vault).rebuild_since is None


def test_what_could_not_be_read_is_still_to_be_made_anew(world: SyncWorld) -> None:
    rebuild(world)
    world.line.take_down("read")
    world.work()
    assert world.runs.get(world.vault).rebuild_since is not None
    world.line.calm()

    before = world.entry("a.md").generation
    world.clock.advance(seconds=1)
    world.reconciled()
    assert world.entry("a.md").generation > before


def test_a_document_that_always_fails_keeps_no_later_rebuild_from_its_work(
    world: SyncWorld,
) -> None:
    world.write("c.md", "DOWN")
    rebuild(world)
    world.clock.advance(seconds=1)
    world.work()
    before = world.entry("a.md").generation
    world.clock.advance(seconds=REBUILD_SECONDS)

    assert rebuild(world) is SyncStart.STARTED
    world.clock.advance(seconds=1)
    world.work()

    assert world.entry("a.md").generation > before


def test_what_could_not_be_queued_can_be_asked_for_at_once(world: SyncWorld) -> None:
    world.line.take_down("send")
    with pytest.raises(UnavailableError):
        rebuild(world)
    world.line.calm()

    assert rebuild(world) is SyncStart.STARTED


def test_a_rebuild_that_never_ended_can_be_asked_for_again(world: SyncWorld) -> None:
    rebuild(world)
    world.clock.advance(seconds=REBUILD_SECONDS)

    assert rebuild(world) is SyncStart.STARTED


def test_its_vectors_wait_behind_fresh_changes(world: SyncWorld) -> None:
    rebuild(world)
    jobs = {"m": SyncJob(tenant=ACME, user=ALICE, kind=SyncKind.REBUILD, vault=world.vault.id)}
    world.worker.run(jobs, time_left=plenty)

    assert [job.bulk for job in world.queue.jobs] == [True, True]
