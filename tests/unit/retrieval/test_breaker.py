"""Whoever searches does not wait for what answered nobody a short while ago."""

from collections.abc import Callable, Sequence

import httpx2
import pytest

from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.adapters.qdrant.vectors import QdrantVectors
from archivolt.domain.errors import UnavailableError
from archivolt.domain.limits import SILENCE_SECONDS
from archivolt.domain.messages import Language
from archivolt.domain.search import SearchQuery
from archivolt.retrieval.breaker import Breaker
from tests.builders import BOB, GLOBEX, a_vault, principal
from tests.fakes.clock import FrozenClock
from tests.fakes.vectors import WordHashEmbedder
from tests.index_world import IndexWorld

SILENT = UnavailableError("unavailable", reason="provider_silent")
DOWN = UnavailableError("unavailable")


class Moody:
    """Answers, or raises what it is told to; it counts how often it is asked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if self.error:
            raise self.error
        return "answer"


class CountedQuestions(WordHashEmbedder):
    """An embedder that counts what it is asked, and may raise."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error
        self.asked = 0

    def embed_query(self, text: str) -> list[float]:
        self.asked += 1
        if self.error:
            raise self.error
        return super().embed_query(text)


class SilentReranker:
    """A reranker that lets its time pass."""

    def __init__(self) -> None:
        self.asked = 0

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float | None]:
        self.asked += 1
        raise SILENT


def refused(breaker: Breaker, question: Callable[[], str], name: str = "it") -> bool:
    """Ask, and tell whether there was no answer."""
    try:
        breaker.ask(name, question)
    except UnavailableError:
        return True
    return False


@pytest.mark.parametrize("reason", ["provider_silent", "provider_unreachable"])
def test_what_was_silent_once_is_not_asked_again_for_a_while(reason: str) -> None:
    clock = FrozenClock()
    breaker, moody = Breaker(clock), Moody(UnavailableError("unavailable", reason=reason))

    assert refused(breaker, moody)
    moody.error = None
    clock.advance(seconds=SILENCE_SECONDS - 1)
    assert refused(breaker, moody)
    assert moody.asked == 1
    with pytest.raises(UnavailableError):
        breaker.check("it")

    clock.advance(seconds=1)
    breaker.check("it")
    assert not refused(breaker, moody)
    assert not refused(breaker, moody)
    assert moody.asked == 3


def test_what_is_silent_still_is_left_alone_once_more() -> None:
    clock = FrozenClock()
    breaker, moody = Breaker(clock), Moody(SILENT)
    for expected in (1, 2, 3):
        assert refused(breaker, moody)
        assert refused(breaker, moody)
        assert moody.asked == expected
        clock.advance(seconds=SILENCE_SECONDS)


def test_while_one_question_tries_the_others_go_without() -> None:
    clock = FrozenClock()
    breaker = Breaker(clock)
    assert refused(breaker, Moody(SILENT))
    clock.advance(seconds=SILENCE_SECONDS)
    others = Moody()

    def trial() -> str:
        assert refused(breaker, others)
        return "answer"

    assert breaker.ask("it", trial) == "answer"
    assert others.asked == 0
    assert not refused(breaker, others)


def test_what_says_at_once_that_it_cannot_is_asked_each_time() -> None:
    clock = FrozenClock()
    breaker, moody = Breaker(clock), Moody(DOWN)
    assert [refused(breaker, moody) for _ in range(3)] == [True] * 3
    assert moody.asked == 3

    moody.error = SILENT
    assert refused(breaker, moody)
    clock.advance(seconds=SILENCE_SECONDS)
    moody.error = DOWN
    assert [refused(breaker, moody) for _ in range(3)] == [True] * 3
    assert moody.asked == 7


def test_the_silence_of_one_is_not_that_of_another() -> None:
    breaker = Breaker(FrozenClock())
    assert refused(breaker, Moody(SILENT), "one")
    assert not refused(breaker, Moody(), "other")


def test_a_search_beside_a_hung_vector_store_is_by_words_and_waits_once() -> None:
    waits: list[float] = []

    def hang(request: httpx2.Request) -> httpx2.Response:
        waits.append(max(request.extensions["timeout"].values()))
        raise httpx2.ReadTimeout("", request=request)

    world = IndexWorld()
    world.settle(world.write("a.md", "llamas cross bridges"))
    counted = CountedQuestions()
    world.embedder = counted
    rest = QdrantRest("http://vectors.example", "", transport=httpx2.MockTransport(hang))
    world.searched = QdrantVectors(rest, model=counted.model, dimension=counted.dimension)

    for _ in range(3):
        result = world.search("llamas")
        assert [hit.path for hit in result.hits] == ["a.md"]
        assert [notice.code for notice in result.notices] == ["meaning_unavailable"]

    assert waits == [3.0]
    assert counted.asked == 1, "what cannot be looked for is not embedded, nor paid for"

    world.clock.advance(seconds=SILENCE_SECONDS)
    world.searched = None
    assert world.search("llamas").notices == []


def test_a_model_that_is_silent_for_one_tenant_is_asked_for_another() -> None:
    world = IndexWorld()
    world.settle(world.write("a.md", "llamas"))
    silent = CountedQuestions(SILENT)
    world.embedder = silent

    for _ in range(3):
        assert [notice.code for notice in world.search("llamas").notices] == ["meaning_unavailable"]
    assert silent.asked == 1

    silent.error = None
    foreign = world.directory
    vault = a_vault("theirs", tenant=GLOBEX)
    foreign.create(vault, owner=BOB)
    asker = principal(BOB, tenant=GLOBEX)
    world.retrieval.search(asker, SearchQuery(q="llamas"), language=Language.EN)
    assert silent.asked == 2


def test_a_reranker_that_is_silent_leaves_the_order_and_is_not_waited_for_again() -> None:
    world = IndexWorld()
    world.settle(world.write("a.md", "llamas"))
    reranker = SilentReranker()
    world.reranker = reranker

    for _ in range(3):
        result = world.search("llamas")
        assert [hit.path for hit in result.hits] == ["a.md"]
        assert [notice.code for notice in result.notices] == ["rerank_unavailable"]
    assert reranker.asked == 1
