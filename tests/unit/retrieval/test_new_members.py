"""A member whose collection is still being filled finds what the others find, by its words."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.ingestion import membership_job
from archivolt.domain.limits import NEW_MEMBER_DAYS
from archivolt.domain.vault import VaultRole
from archivolt.ports.retrieval import Candidate
from tests.builders import ALICE, BOB
from tests.fakes.vectors import InMemoryVectors
from tests.index_world import IndexWorld

SOON = ["vectors_on_their_way"]
ORDER = ["answer.md", "first.md"]


class CountedVectors(InMemoryVectors):
    """A store that counts how often it is asked what it lacks, and may be down for that."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.down = False

    def lacks(
        self, tenant: TenantId, user: UserId, passages: Sequence[Candidate]
    ) -> list[Candidate]:
        self.asked += 1
        if self.down:
            raise UnavailableError("unavailable")
        return super().lacks(tenant, user, passages)


def joins(world: IndexWorld, *, but: str) -> None:
    """Let Bob join; of one document his vectors are still on their way."""
    world.directory.set_member(world.vault, BOB, VaultRole.READER, now=world.clock.now())
    world.queue.send([membership_job(world.vault, BOB)])
    # One job makes those of the documents.
    [joined] = world.queue.take()
    world.queue.jobs.clear()
    world.embed_passages.run({"1": joined}, time_left=lambda: timedelta(hours=1))
    left = [job for job in world.queue.jobs if job.path == but]
    world.queue.jobs = [job for job in world.queue.jobs if job.path != but]
    world.embed()
    world.queue.jobs = left


def answers(world: IndexWorld, user: UserId) -> tuple[list[str], list[str]]:
    """Return the best two paths, and the codes of the notices."""
    found = world.search("show a list", user=user, top_k=2)
    return [hit.path for hit in found.hits], [notice.code for notice in found.notices]


@pytest.fixture
def vectors() -> CountedVectors:
    return CountedVectors()


@pytest.fixture
def world(vectors: CountedVectors) -> IndexWorld:
    world = IndexWorld()
    world.vectors = vectors
    world.settle(
        world.write("first.md", "show a list of llamas"), world.write("answer.md", "show a list")
    )
    return world


@pytest.fixture
def large(world: IndexWorld) -> IndexWorld:
    """Return a world with more documents than a list is asked for."""
    others = [world.write(f"{n}.md", f"a list of llamas {n} show") for n in range(130)]
    world.settle(*others)
    return world


def test_what_is_not_in_a_new_members_collection_yet_keeps_its_place(
    world: IndexWorld, vectors: CountedVectors
) -> None:
    joins(world, but="answer.md")

    assert answers(world, ALICE) == (ORDER, [])
    assert answers(world, BOB) == (ORDER, SOON)
    world.embed()
    assert answers(world, BOB) == (ORDER, [])
    # A short list says by itself what is not in the collection.
    assert vectors.asked == 0


def test_in_a_large_vault_the_collection_is_asked_while_it_is_new(
    large: IndexWorld, vectors: CountedVectors
) -> None:
    joins(large, but="answer.md")

    by_alice, _ = answers(large, ALICE)
    assert vectors.asked == 0
    assert by_alice[0] == "answer.md"
    by_bob, codes = answers(large, BOB)
    assert by_bob[0] == "answer.md"
    assert codes == SOON
    assert vectors.asked == 1

    vectors.down = True
    by_bob, codes = answers(large, BOB)
    assert by_bob
    assert codes == []
    vectors.down = False
    large.embed()
    assert answers(large, BOB) == answers(large, ALICE)

    asked = vectors.asked
    large.clock.advance(days=NEW_MEMBER_DAYS)
    assert answers(large, BOB) == answers(large, ALICE)
    assert vectors.asked == asked


def test_who_joins_with_an_empty_collection_finds_by_words_and_is_told(world: IndexWorld) -> None:
    world.directory.set_member(world.vault, BOB, VaultRole.READER, now=world.clock.now())

    assert answers(world, BOB) == (ORDER, SOON)
