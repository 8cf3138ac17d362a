"""A model has the last word on the order, and none where it does not answer."""

from collections.abc import Sequence

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.messages import Language
from archivolt.domain.search import SearchMode, SearchQuery, SearchResult
from archivolt.retrieval import reranking
from tests.builders import ALICE, principal
from tests.index_world import IndexWorld


class Scripted:
    """A `Reranker` that scores a text by the first of its words that is known."""

    def __init__(self, **scores: float | None) -> None:
        self._scores = scores
        self.asked: list[list[str]] = []

    def rerank(self, question: str, texts: Sequence[str]) -> list[float | None]:
        self.asked.append(list(texts))
        if not self._scores:
            raise UnavailableError("unavailable")
        return [
            next(self._scores[word] for word in text.split() if word in self._scores)
            for text in texts
        ]


@pytest.fixture
def world() -> IndexWorld:
    world = IndexWorld()
    world.settle(
        world.write("a.md", "llamas llamas one"),
        world.write("b.md", "llamas two of more words"),
        world.write("c.md", "# Top\n\nllamas three stand among still more other words"),
    )
    return world


def ask(world: IndexWorld, mode: SearchMode = SearchMode.HYBRID) -> SearchResult:
    query = SearchQuery(q="llamas", mode=mode, explain=True, threshold=0.0)
    return world.retrieval.search(principal(ALICE), query, language=Language.EN)


def test_the_model_orders_what_was_found(world: IndexWorld) -> None:
    world.reranker = Scripted(one=0.2, two=0.9, three=0.5)
    result = ask(world)
    assert [(hit.path, hit.score) for hit in result.hits] == [
        ("b.md", 0.9),
        ("c.md", 0.5),
        ("a.md", 0.2),
    ]
    assert result.hits[0].explanation["reranked"] == 0.9
    assert result.notices == []


def test_scores_that_are_no_shares_become_such_in_the_same_order(world: IndexWorld) -> None:
    world.reranker = Scripted(one=-4.0, two=900.0, three=0.0)
    hits = ask(world).hits
    assert [hit.path for hit in hits] == ["b.md", "c.md", "a.md"]
    assert [hit.score for hit in hits] == [1.0, 0.5, 0.018]


def test_what_the_model_leaves_out_comes_after_what_it_reads(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranking, "_READ", 2)
    found = [hit.path for hit in ask(world).hits]
    reranker = Scripted(one=None, two=0.1, three=0.1)
    world.reranker = reranker
    hits = ask(world).hits
    assert hits[0].path == "b.md"
    assert hits[-1].path == found[-1]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(reranker.asked[0]) == 2


def test_a_model_that_is_down_leaves_the_order_and_a_notice(world: IndexWorld) -> None:
    before = [hit.path for hit in ask(world).hits]
    world.reranker = Scripted()
    result = ask(world)
    assert [hit.path for hit in result.hits] == before
    assert [notice.code for notice in result.notices] == ["rerank_unavailable"]


@pytest.mark.parametrize("mode", [SearchMode.DENSE, SearchMode.LEXICAL])
def test_who_asks_for_one_list_gets_its_order(world: IndexWorld, mode: SearchMode) -> None:
    reranker = Scripted(one=0.2, two=0.9, three=0.5)
    world.reranker = reranker
    assert ask(world, mode).hits[0].path == "a.md"
    assert reranker.asked == []
