"""Another model: documents are embedded anew one by one, and none leaves the search meanwhile."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from archivolt.adapters.embedding.calls import EmbeddingCalls
from archivolt.adapters.embedding.models import EmbeddingModel
from archivolt.adapters.embedding.protocols import (
    EmbeddingProtocol,
    OpenAIEmbeddings,
    WorkersAI,
)
from archivolt.adapters.embedding.remote import RemoteEmbedder
from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.outbound import guarded_client
from archivolt.domain.errors import UnavailableError
from archivolt.domain.search import SearchMode
from archivolt.ingestion import embed_passages
from archivolt.retrieval.meaning import DenseIndex
from archivolt.retrieval.tokens import token_upper_bound
from tests.builders import ALICE, BOB
from tests.fakes.embedding_server import (
    ACCOUNT,
    MODEL,
    EmbeddingServer,
    Trouble,
    embedding_server,
)
from tests.fakes.vectors import InMemoryVectors, WordHashEmbedder
from tests.index_world import IndexWorld, plenty


@pytest.fixture
def world() -> IndexWorld:
    """Return a world in which two documents have the vectors of a first model."""
    world = IndexWorld()
    world.settle(world.write("a.md", "llamas"), world.write("b.md", "llamas and alpacas"))
    return world


def change_model(world: IndexWorld, embedder: object = None) -> InMemoryVectors:
    """Put another model in place, with a collection of its own; return the former collection."""
    before = world.vectors
    world.former = DenseIndex(embedder=world.embedder, vectors=before)
    world.vectors = InMemoryVectors(former=before)
    chosen: Any = embedder or WordHashEmbedder(model="other/2")
    world.embedder = chosen
    return before


def requeue(world: IndexWorld) -> None:
    assert world.every_vault.run(time_left=plenty).requeued > 0


def embed_one(world: IndexWorld) -> None:
    job, *others = world.queue.take()
    assert not world.embed_passages.run({"m": job}, time_left=plenty).failed
    world.queue.send(others)


def by_meaning(world: IndexWorld, q: str = "llamas", **options: Any) -> list[str]:  # noqa: ANN401
    return world.found(q, mode=SearchMode.DENSE, **options)


def test_at_no_moment_of_the_change_is_a_document_lost_or_doubled(world: IndexWorld) -> None:
    both = ["a.md", "b.md"]
    former = change_model(world)
    assert by_meaning(world) == both
    requeue(world)
    assert by_meaning(world) == both
    for _ in range(2):
        embed_one(world)
        assert by_meaning(world) == both
        assert sorted(world.found("llamas")) == both
    assert world.entry("a.md").embedder == world.entry("b.md").embedder == "other/2"
    assert former.held(world.vault.tenant, ALICE) == []
    world.former = None
    assert by_meaning(world) == both


def test_a_worker_that_dies_between_two_collections_doubles_nothing(world: IndexWorld) -> None:
    change_model(world)
    requeue(world)
    world.line.take_down("remove_older")
    world.embed()
    world.line.calm()
    assert world.points("a.md") == world.points("b.md") == 1
    assert by_meaning(world) == ["a.md", "b.md"]
    world.embed()
    assert world.entry("a.md").embedder == "other/2"
    assert by_meaning(world) == ["a.md", "b.md"]


def test_without_the_former_model_words_answer_until_the_vectors_are_there(
    world: IndexWorld,
) -> None:
    change_model(world)
    world.former = None
    assert by_meaning(world) == []
    assert sorted(world.found("llamas")) == ["a.md", "b.md"]
    world.reconciled()
    assert by_meaning(world) == ["a.md", "b.md"]


def test_a_document_that_changes_meanwhile_is_found_as_it_is_now(world: IndexWorld) -> None:
    former = change_model(world)
    world.settle(world.write("a.md", "penguins"))
    assert by_meaning(world, "penguins") == ["a.md"]
    assert by_meaning(world, "llamas") == ["b.md"]
    assert [point[1] for point in former.held(world.vault.tenant, ALICE)] == ["b.md"]


def test_a_document_that_is_deleted_meanwhile_is_found_by_neither(world: IndexWorld) -> None:
    former = change_model(world)
    deleted = world.delete("a.md")
    world.deliver(deleted)
    assert by_meaning(world) == ["b.md"]
    world.embed()
    assert [point[1] for point in former.held(world.vault.tenant, ALICE)] == ["b.md"]


def test_who_leaves_meanwhile_has_no_vector_left(world: IndexWorld) -> None:
    world.join(BOB)
    former = change_model(world)
    world.leave(BOB)
    assert former.held(world.vault.tenant, BOB) == []
    assert by_meaning(world) == ["a.md", "b.md"]


def test_who_joins_meanwhile_finds_everything_by_the_new_model(world: IndexWorld) -> None:
    change_model(world)
    world.join(BOB)
    assert by_meaning(world, user=BOB) == ["a.md", "b.md"]
    world.reconciled()
    assert by_meaning(world, user=BOB) == ["a.md", "b.md"]


def test_cosines_of_the_former_model_are_measured_by_its_own_threshold(world: IndexWorld) -> None:
    change_model(world, strict_model())
    scores = [hit.score for hit in world.search("llamas alpacas", mode=SearchMode.DENSE).hits]
    # .3 is to the former model what .6 is to this one: .707 and .816 become certain.
    assert scores == [1.0, 1.0]
    assert by_meaning(world, "llamas one two three four five six seven eight nine") == ["a.md"]


def strict_model() -> WordHashEmbedder:
    strict = WordHashEmbedder(model="strict/1")
    strict.threshold = 0.6
    return strict


def test_a_document_is_measured_by_the_model_that_the_catalogue_names(world: IndexWorld) -> None:
    lenient = WordHashEmbedder(model="lenient/1")
    lenient.threshold = 0.15
    change_model(world, lenient)
    requeue(world)
    world.line.take_down("remove_older")
    world.embed()
    world.line.calm()
    assert world.points("a.md") == world.points("b.md") == 1
    hits = world.search("llamas alpacas", mode=SearchMode.DENSE).hits
    halves = [0.7071 / 2, 0.8165 / 2]  # .3 is to the former model what .15 is to this one
    assert sorted(hit.score for hit in hits) == pytest.approx(halves, abs=1e-3)


def test_vectors_that_a_former_model_left_behind_say_nothing(world: IndexWorld) -> None:
    former = change_model(world, strict_model())
    world.vectors = InMemoryVectors()
    world.reconciled()
    assert former.held(world.vault.tenant, ALICE)
    hits = world.search("llamas alpacas", mode=SearchMode.DENSE).hits
    assert sorted(hit.score for hit in hits) == pytest.approx([0.7071, 0.8165])


def test_a_former_model_that_is_down_costs_its_own_documents_alone(world: IndexWorld) -> None:
    class Down(WordHashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            raise UnavailableError("unavailable")

    former = change_model(world)
    world.former = DenseIndex(embedder=Down(), vectors=former)
    world.settle(world.write("c.md", "llamas too"))
    assert by_meaning(world) == ["c.md"]
    assert sorted(world.found("llamas")) == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize("former", ["not named", "down", "up"])
def test_words_speak_for_what_the_models_that_answer_have_not_read(former: str) -> None:
    class Down(WordHashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            raise UnavailableError("unavailable")

    world = IndexWorld()
    world.settle(world.write("answer.md", "show a list"))
    before = change_model(world)
    world.settle(world.write("read.md", "show a list of llamas"))
    if former != "up":
        embedder = Down()
        world.former = DenseIndex(embedder=embedder, vectors=before) if former == "down" else None
    assert world.found("show a list") == ["answer.md", "read.md"]
    [answer, _] = world.search("show a list").hits
    assert answer.score > 0.9


PROTOCOLS = pytest.mark.parametrize(
    ("protocol", "path"),
    [
        (WorkersAI(), f"/accounts/{ACCOUNT}/ai/run/{MODEL}"),
        (OpenAIEmbeddings("bge-m3", 1024), "/v1/embeddings"),
    ],
)


@pytest.fixture
def provider() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def remote(url: str, protocol: EmbeddingProtocol) -> RemoteEmbedder:
    client = guarded_client(OutboundRules.from_setting("127.0.0.1"))
    model = EmbeddingModel(provider="toy", name="bge-m3", dimension=1024, threshold=0.3)
    calls = EmbeddingCalls(client, url, "", pause=lambda _: None)
    return RemoteEmbedder(calls, protocol, model, count=token_upper_bound)


@PROTOCOLS
def test_a_provider_takes_over_and_equal_content_is_sent_to_it_once(
    world: IndexWorld, provider: EmbeddingServer, protocol: EmbeddingProtocol, path: str
) -> None:
    world.settle(world.write("copy.md", "llamas"))
    change_model(world, remote(f"{provider.url}{path}", protocol))
    world.reconciled()
    assert sorted(provider.texts) == ["llamas", "llamas and alpacas"]
    assert "b.md" in by_meaning(world)
    assert world.points("a.md") == world.points("copy.md") == 1
    provider.bodies.clear()
    world.settle(world.write("moved.md", "llamas and alpacas"), world.delete("b.md"))
    world.join(BOB)
    assert provider.bodies == []


@PROTOCOLS
def test_a_provider_that_is_down_delays_the_change_and_loses_nothing(
    world: IndexWorld, provider: EmbeddingServer, protocol: EmbeddingProtocol, path: str
) -> None:
    change_model(world, remote(f"{provider.url}{path}", protocol))
    provider.troubles = [Trouble(status=400)] * 2
    world.reconciled()
    assert world.entry("a.md").embedder == "word-hash/1"
    world.embed()
    assert sorted(by_meaning(world)) == ["a.md", "b.md"]
    assert world.entry("a.md").embedder == "toy:bge-m3@1024/1"


def test_what_was_embedded_before_a_failure_is_not_embedded_again(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FailsOnce(WordHashEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
            if len(self.embedded) == 2 and not failed:
                failed.append(True)
                raise UnavailableError("unavailable")
            return super().embed_passages(texts)

    failed: list[bool] = []
    monkeypatch.setattr(embed_passages, "_SLICE", 2)
    world.embedder = FailsOnce()
    world.deliver(world.write("long.md", "\n\n".join(f"# {n}\n\n" + "x " * 300 for n in range(5))))
    world.embed()
    assert failed
    world.embed()
    assert len(world.embedder.embedded) == world.entry("long.md").passages > 2
