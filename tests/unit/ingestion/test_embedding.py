"""From a job to vectors: once per content, for every member, and never for what is past."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.identity import UserId
from archivolt.domain.ingestion import EmbeddingJob, Generation, IndexState, membership_job
from archivolt.domain.job_messages import job_message, parse_job
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from archivolt.domain.vault import VaultRef, VaultRole
from archivolt.ingestion import embed_passages
from archivolt.ports.ingestion import KeptVector
from archivolt.ports.retrieval import EmbeddedDocument
from tests.builders import ALICE, BOB, vault_ref
from tests.fakes.embedding import InMemoryVectorCache
from tests.fakes.faults import Death
from tests.fakes.vectors import InMemoryVectors, WordHashEmbedder
from tests.index_world import IndexWorld, plenty
from tests.product_world import ProductWorld

NOTE = "a.md"


@pytest.fixture
def world() -> IndexWorld:
    return IndexWorld()


def run(world: IndexWorld, job: EmbeddingJob) -> list[str]:
    return list(world.embed_passages.run({"m": job}, time_left=plenty).failed)


def test_every_member_has_the_vectors_of_one_embedding(world: IndexWorld) -> None:
    world.directory.set_member(world.vault, BOB, VaultRole.READER)
    world.settle(world.write(NOTE, "llamas"))
    assert world.points(NOTE, user=ALICE) == world.points(NOTE, user=BOB) == 1
    assert len(world.embedder.embedded) == 1


def test_a_member_who_joins_finds_everything_without_a_new_embedding(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"), world.write("b.md", "alpacas"))
    world.join(BOB)
    assert world.found("llamas", user=BOB, mode=SearchMode.DENSE) == [NOTE]
    assert world.points("b.md", user=BOB) == 1
    assert len(world.embedder.embedded) == 2


def test_a_member_who_leaves_keeps_no_vector(world: IndexWorld) -> None:
    other = world.new_vault("archive", owner=BOB)
    world.settle(world.write(NOTE, "llamas"), world.write("c.md", "alpacas", vault=other))
    world.join(BOB)
    world.leave(BOB)
    assert world.found("llamas", user=BOB) == []
    assert world.points(NOTE, user=BOB) == 0
    assert world.points("c.md", user=BOB) == 1
    assert world.points(NOTE, user=ALICE) == 1


def test_who_leaves_while_a_document_is_embedded_keeps_no_vector_of_it(world: IndexWorld) -> None:
    class LeftMeanwhile(InMemoryVectors):
        def upsert(
            self, users: Sequence[UserId], vault: VaultRef, document: EmbeddedDocument
        ) -> None:
            world.directory.remove_member(vault, BOB)
            assert run(world, membership_job(vault, BOB)) == []
            super().upsert(users, vault, document)

    world.directory.set_member(world.vault, BOB, VaultRole.READER)
    world.deliver(world.write(NOTE, "llamas"))
    [job] = world.queue.take()
    world.vectors = LeftMeanwhile()
    assert run(world, job) == []
    assert (world.points(NOTE, user=ALICE), world.points(NOTE, user=BOB)) == (1, 0)


def test_members_for_whom_there_is_no_time_get_their_vectors_by_jobs_of_their_own(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed_passages, "_POINTS_AT_ONCE", 1)
    members = [ALICE, *map(UserId, ("m1", "m2", "m3"))]
    for member in members[1:]:
        world.directory.set_member(world.vault, member, VaultRole.READER)
    world.deliver(world.write(NOTE, "llamas"))
    rounds = 0
    while jobs := world.queue.take():
        rounds += 1
        for job in jobs:
            # There is time to begin, and to embed; then there is none.
            left = iter([plenty()] * (2 if rounds == 1 else 1))
            time_left = lambda left=left: next(left, timedelta(0))  # noqa: E731
            assert not world.embed_passages.run({"m": job}, time_left=time_left).failed
    assert rounds == len(members)
    assert [world.points(NOTE, user=member) for member in members] == [1] * len(members)
    assert (world.state(NOTE), world.embedder.embedded) == (IndexState.INDEXED, ["llamas"])


def test_joining_and_leaving_may_be_told_in_the_wrong_order(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    world.directory.set_member(world.vault, BOB, VaultRole.READER)
    world.directory.remove_member(world.vault, BOB)
    for _ in range(2):
        world.queue.send([membership_job(world.vault, BOB)])
        world.embed()
    assert world.points(NOTE, user=BOB) == 0


def test_a_member_who_left_before_their_vectors_came_gets_none(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    job = EmbeddingJob(
        vault=world.vault,
        path=VaultPath(NOTE),
        generation=world.entry(NOTE).generation,
        users=(BOB,),
    )
    assert run(world, job) == []
    assert world.points(NOTE, user=BOB) == 0


def test_a_job_that_was_overtaken_is_no_work(world: IndexWorld) -> None:
    world.deliver(world.write(NOTE, "llamas"))
    [old] = world.queue.take()
    world.deliver(world.write(NOTE, "alpacas"))
    assert run(world, old) == []
    assert world.points(NOTE) == 0
    world.embed()
    assert world.embedder.embedded == ["alpacas"]


def test_a_job_overtaken_while_it_embeds_leaves_nothing_behind(world: IndexWorld) -> None:
    class Overtaken(WordHashEmbedder):
        def embed_passages(self, texts: object) -> list[list[float]]:
            world.embedder = WordHashEmbedder()
            world.settle(world.write(NOTE, "alpacas"))
            return [self.embed_query("llamas")]

    world.deliver(world.write(NOTE, "llamas"))
    [job] = world.queue.take()
    world.embedder = Overtaken()
    assert run(world, job) == []
    assert world.points(NOTE) == 1
    assert world.found("alpacas", mode=SearchMode.DENSE) == [NOTE]


def test_what_an_overtaken_job_wrote_before_it_died_goes_when_it_comes_again(
    world: IndexWorld,
) -> None:
    class OvertakenAndDying(WordHashEmbedder):
        def embed_passages(self, texts: object) -> list[list[float]]:
            world.embedder = WordHashEmbedder()
            world.settle(world.write(NOTE, "alpacas"))
            # Once the texts are kept and the members asked, the points are written.
            world.line.watch(lambda: world.line.strike_after(0) if world.points(NOTE) > 1 else None)
            return [self.embed_query("llamas")]

    world.deliver(world.write(NOTE, "llamas"))
    [job] = world.queue.take()
    world.embedder = OvertakenAndDying()
    with pytest.raises(Death):
        run(world, job)
    world.line.watch(None)
    world.line.calm()
    assert world.points(NOTE) == 2
    assert run(world, job) == []
    assert world.points(NOTE) == 1
    assert world.found("alpacas", mode=SearchMode.DENSE) == [NOTE]


def test_a_new_members_job_that_is_overtaken_leaves_no_vector_of_a_former_text(
    world: IndexWorld,
) -> None:
    class Overtaken(InMemoryVectorCache):
        def load(
            self, vault: VaultRef, digests: Sequence[str], model: str
        ) -> Mapping[str, KeptVector]:
            found = kept.load(vault, digests, model)
            world.cache = kept
            world.settle(world.write(NOTE, "alpacas"))
            return found

    world.settle(world.write(NOTE, "llamas"))
    world.directory.set_member(world.vault, BOB, VaultRole.READER)
    assert run(world, membership_job(world.vault, BOB)) == []
    [job] = world.queue.take()
    kept, world.cache = world.cache, Overtaken()
    assert run(world, job) == []
    assert (world.points(NOTE, user=ALICE), world.points(NOTE, user=BOB)) == (1, 1)
    assert world.found("alpacas", user=BOB, mode=SearchMode.DENSE) == [NOTE]


@pytest.mark.parametrize("member", [ALICE, BOB])
def test_vectors_of_what_moved_while_a_new_member_gets_theirs_stay_with_it(member: UserId) -> None:
    class Moved(InMemoryVectorCache):
        def load(
            self, vault: VaultRef, digests: Sequence[str], model: str
        ) -> Mapping[str, KeptVector]:
            found = kept.load(vault, digests, model)
            world.cache = kept
            world.move(NOTE, "b.md")
            return found

    world = ProductWorld()
    world.settle(world.write(NOTE, "llamas"))
    world.events()
    world.directory.set_member(world.vault, BOB, VaultRole.READER)
    assert run(world, membership_job(world.vault, BOB)) == []
    [job] = world.queue.take()
    kept, world.cache = world.cache, Moved()
    assert run(world, job) == []
    assert world.found("llamas", user=member, mode=SearchMode.DENSE) == ["b.md"]
    world.settle_all()
    assert world.found("llamas", user=member, mode=SearchMode.DENSE) == ["b.md"]
    assert world.points(NOTE, user=member) == 0


def parts(*names: str) -> str:
    return "\n\n".join(f"# {name}\n\n{name} " + "x " * 300 for name in names)


def test_an_edit_of_one_part_embeds_that_part_alone(world: IndexWorld) -> None:
    names = [f"Part {number}" for number in range(100)]
    world.settle(world.write(NOTE, parts(*names)))
    assert world.entry(NOTE).passages == len(world.embedder.embedded) == 100
    names[50] = "Another"
    world.settle(world.write(NOTE, parts(*names)))
    assert [text.split("\n")[0] for text in world.embedder.embedded[100:]] == ["Another"]
    assert world.points(NOTE) == 100


def test_an_edit_within_a_long_section_embeds_what_is_near_it(world: IndexWorld) -> None:
    paragraphs = [f"Paragraph {n}. " + f"It tells of llama {n}. " * 9 for n in range(60)]
    world.settle(world.write(NOTE, "\n\n".join(paragraphs)))
    known = len(world.embedder.embedded)
    assert known > 10
    paragraphs[30] += "And of a vicuña."
    world.settle(world.write(NOTE, "\n\n".join(paragraphs)))
    anew = world.embedder.embedded[known:]
    assert any("vicuña" in text for text in anew)
    assert len(anew) <= 3


def test_a_text_that_other_documents_have_is_not_embedded_again(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, parts("One", "Two")))
    world.settle(world.write("b.md", parts("Two", "Three")), world.write("c.md", parts("Three")))
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded)) == 3
    assert world.points("b.md") == 2


def test_a_text_said_twice_in_a_document_is_embedded_once(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, parts("One", "One")))
    assert len(world.embedder.embedded) == 1
    assert world.points(NOTE) == world.entry(NOTE).passages == 2


def test_what_is_not_known_any_more_of_a_former_content_stays_known(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, parts("One", "Two")))
    world.settle(world.write(NOTE, parts("One", "Three")))
    assert world.reconciled().forgotten == 1
    world.settle(world.write(NOTE, parts("One", "Four")))
    assert len(world.embedder.embedded) == 4


def test_what_was_embedded_before_a_failure_is_not_embedded_again(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Weak(WordHashEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
            if self.embedded:
                raise UnavailableError("unavailable")
            return super().embed_passages(texts)

    monkeypatch.setattr(embed_passages, "_SLICE", 2)
    world.deliver(world.write(NOTE, parts("One", "Two", "Three")))
    [job] = world.queue.take()
    strong, world.embedder = world.embedder, Weak()
    assert run(world, job) == ["m"]
    world.embedder = strong
    assert run(world, job) == []
    assert len(strong.embedded) == 1
    assert world.points(NOTE) == 3


def test_a_repeated_job_is_no_work(world: IndexWorld) -> None:
    world.deliver(world.write(NOTE, "llamas"))
    [job] = world.queue.take()
    assert run(world, job) == run(world, job) == []
    assert len(world.embedder.embedded) == 1


def test_a_job_whose_passages_are_missing_comes_again(world: IndexWorld) -> None:
    world.deliver(world.write(NOTE, "llamas"))
    [job] = world.queue.take()
    world.text_index.drop(world.vault)
    assert run(world, job) == ["m"]


def test_one_failing_job_leaves_the_others_alone(world: IndexWorld) -> None:
    world.deliver(world.write(NOTE, "llamas"), world.write("b.md", "alpacas"))
    jobs = {job.path: job for job in world.queue.take()}
    lost = replace(jobs[VaultPath(NOTE)], path=VaultPath("lost.md"))
    assert world.catalogue.advance(
        replace(world.entry(NOTE), path=VaultPath("lost.md")), previous=None
    )
    outcome = world.embed_passages.run(
        {"lost": lost, "b": jobs[VaultPath("b.md")]}, time_left=plenty
    )
    assert list(outcome.failed) == ["lost"]
    assert world.state("b.md") is IndexState.INDEXED


def test_a_long_document_is_embedded_in_several_goes(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed_passages, "_SLICE", 2)
    text = "\n\n".join(f"# Part {n}\n\nllama {n} " + "x " * 300 for n in range(7))
    world.deliver(world.write(NOTE, text))
    count = world.entry(NOTE).passages
    goes = 0
    while jobs := world.queue.take():
        left = iter([plenty(), plenty(), timedelta(0), timedelta(0)])
        use_case = world.embed_passages
        assert not use_case.run({"m": jobs[0]}, time_left=lambda left=left: next(left)).failed
        goes += 1
    assert goes > 2
    assert world.points(NOTE) == count
    assert len(world.embedder.embedded) == count


def test_vectors_stand_for_what_was_read_again_meanwhile_where_there_is_no_time_for_its_own(
    world: IndexWorld,
) -> None:
    class ReadAgain(InMemoryVectors):
        is_over = False

        def upsert(
            self, users: Sequence[UserId], vault: VaultRef, document: EmbeddedDocument
        ) -> None:
            super().upsert(users, vault, document)
            if not self.is_over:
                self.is_over = True
                assert not world.deliver(again).failed
                world.cache.forget(vault, world.entry(NOTE).sha256)

    again = replace(world.write(NOTE, "llamas"), sequencer=None, anew=True)
    world.deliver(again)
    [job] = world.queue.take()
    world.vectors = vectors = ReadAgain()
    left = iter([plenty(), plenty()])
    time_left = lambda: next(left, timedelta(0))  # noqa: E731
    assert not world.embed_passages.run({"m": job}, time_left=time_left).failed
    assert vectors.is_over
    assert world.state(NOTE) is IndexState.PENDING
    assert world.found("llamas", mode=SearchMode.DENSE) == [NOTE]
    world.embed()
    assert (world.state(NOTE), world.points(NOTE)) == (IndexState.INDEXED, 1)


def test_another_model_embeds_anew(world: IndexWorld) -> None:
    world.deliver(world.write(NOTE, "llamas"))
    [job] = world.queue.take()
    run(world, job)
    world.embedder = WordHashEmbedder(model="other/2")
    assert run(world, job) == []
    assert world.entry(NOTE).embedder == "other/2"
    assert world.embedder.embedded == ["llamas"]


@pytest.mark.parametrize(
    "job",
    [
        EmbeddingJob(
            vault=vault_ref(), path=VaultPath("Été/à+b (1).md"), generation=Generation("1-a")
        ),
        membership_job(vault_ref(), BOB),
    ],
)
def test_a_job_survives_its_message(job: EmbeddingJob) -> None:
    assert parse_job(job_message(job)) == job


@pytest.mark.parametrize(
    "body",
    ["", "{}", "[]", "null", '{"version": 2}', '{"version": 1, "tenant": "a/b"}', "1"],
)
def test_what_is_no_job_is_refused(body: str) -> None:
    with pytest.raises(InvalidRequestError):
        parse_job(body)


def test_a_path_out_of_the_vault_is_no_job() -> None:
    job = EmbeddingJob(vault=vault_ref(), path=VaultPath("../b"), generation=Generation("1-a"))
    with pytest.raises(InvalidRequestError):
        parse_job(job_message(job))
