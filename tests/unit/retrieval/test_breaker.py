"""Whoever searches does not wait for what answered nobody a short while ago."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import httpx2
import pytest

from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.adapters.qdrant.vectors import QdrantVectors
from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.limits import LONG_REFUSAL_SECONDS, SILENCE_SECONDS
from archivolt.domain.messages import Language
from archivolt.domain.search import SearchMode, SearchQuery
from archivolt.retrieval.breaker import Breaker
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_vault, principal
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


def refused(
    breaker: Breaker,
    question: Callable[[], str],
    name: str = "it",
    *,
    tenant: TenantId = ACME,
    alone: bool = False,
) -> bool:
    """Ask, and tell whether there was no answer."""
    try:
        with breaker.turn(name, tenant, shared=name == "shared", alone=alone) as turn:
            turn.ask(question)
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

    clock.advance(seconds=1)
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

    assert breaker.ask("it", ACME, trial) == "answer"
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


def test_what_takes_long_to_say_that_it_cannot_is_not_asked_again_for_a_while() -> None:
    clock = FrozenClock()
    breaker, moody = Breaker(clock), Moody(DOWN)

    def late() -> str:
        clock.advance(seconds=LONG_REFUSAL_SECONDS)
        return moody()

    assert [refused(breaker, late) for _ in range(3)] == [True] * 3
    assert moody.asked == 1


def test_one_tenants_slow_questions_are_theirs_and_a_server_nobody_reaches_is_everybodys() -> None:
    breaker, others = Breaker(FrozenClock()), Moody()
    assert refused(breaker, Moody(SILENT), "shared")
    assert refused(breaker, others, "shared")
    assert not refused(breaker, others, "shared", tenant=GLOBEX)

    unreachable = UnavailableError("unavailable", reason="provider_unreachable")
    assert refused(breaker, Moody(unreachable), "model")
    assert not refused(breaker, others, "model", tenant=GLOBEX)
    assert refused(breaker, Moody(unreachable), "shared", tenant=GLOBEX)
    assert refused(breaker, others, "shared", tenant=GLOBEX)
    assert others.asked == 2


def test_what_is_no_answer_neither_ends_a_silence_nor_prolongs_it() -> None:
    clock = FrozenClock()
    breaker = Breaker(clock)
    assert refused(breaker, Moody(SILENT))
    clock.advance(seconds=SILENCE_SECONDS)
    with pytest.raises(KeyError):
        breaker.ask("it", ACME, Moody(KeyError()))
    others = Moody()

    def trial() -> str:
        assert refused(breaker, others), "the silence was not over"
        return "answer"

    assert breaker.ask("it", ACME, trial) == "answer"


def test_of_a_crowd_after_a_silence_one_waits_though_another_falls_silent() -> None:
    clock = FrozenClock()
    breaker = Breaker(clock)
    assert refused(breaker, Moody(SILENT))
    clock.advance(seconds=SILENCE_SECONDS)
    assert refused(breaker, Moody(SILENT), "other")
    lock, others_are_gone = Lock(), Event()
    asked: list[str] = []
    gone: list[bool] = []

    def slow() -> str:
        asked.append("it")
        others_are_gone.wait(2)
        return "answer"

    def come() -> None:
        was_refused = refused(breaker, slow)
        with lock:
            gone.append(was_refused)
            if len(gone) == 7:
                others_are_gone.set()

    with ThreadPoolExecutor(8) as crowd:
        for done in [crowd.submit(come) for _ in range(8)]:
            done.result()
    assert asked == ["it"]
    assert gone == [True] * 7 + [False]


def test_what_nothing_else_answers_for_is_asked_though_it_was_silent() -> None:
    breaker, moody = Breaker(FrozenClock()), Moody()
    assert refused(breaker, Moody(SILENT))
    assert not refused(breaker, moody, alone=True)
    assert not refused(breaker, moody), "it is known to be well again"


def test_a_silence_is_told_in_the_log_once_and_of_whom_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    breaker = Breaker(FrozenClock())
    with caplog.at_level(logging.WARNING):
        assert refused(breaker, Moody(SILENT))
        assert refused(breaker, Moody(SILENT))
    [told] = caplog.records
    assert told.__dict__["asked"] == "it"
    assert ACME not in str(told.__dict__)


def test_a_search_beside_a_hung_vector_store_is_by_words_and_waits_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
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
    assert caplog.messages.count("the vector store did not answer in time") == 1
    assert counted.asked == 1, "what cannot be looked for is not embedded, nor paid for"

    world.clock.advance(seconds=SILENCE_SECONDS)
    world.searched = None
    assert world.search("llamas").notices == []


def test_a_question_is_not_embedded_while_another_tries_whether_the_vectors_answer() -> None:
    world = IndexWorld()
    world.settle(world.write("a.md", "llamas"))
    counted = CountedQuestions()
    world.embedder = counted
    assert refused(world.breaker, Moody(SILENT), "vectors")
    world.clock.advance(seconds=SILENCE_SECONDS)

    def trial() -> str:
        assert [hit.path for hit in world.search("llamas").hits] == ["a.md"]
        return "answer"

    assert world.breaker.ask("vectors", ACME, trial) == "answer"
    assert counted.asked == 0


def test_a_search_by_meaning_alone_asks_what_was_silent() -> None:
    world = IndexWorld()
    world.settle(world.write("a.md", "llamas"))
    assert refused(world.breaker, Moody(SILENT), "vectors")
    assert [notice.code for notice in world.search("llamas").notices] == ["meaning_unavailable"]
    assert world.found("llamas", user=ALICE, mode=SearchMode.DENSE) == ["a.md"]


def test_a_reranker_that_had_nothing_to_read_is_not_known_to_answer() -> None:
    world = IndexWorld()
    reranker = SilentReranker()
    world.reranker = reranker
    assert refused(world.breaker, Moody(SILENT), "reranker")
    world.clock.advance(seconds=SILENCE_SECONDS)
    assert world.search("llamas").hits == []

    def trial() -> str:
        assert refused(world.breaker, Moody(), "reranker")
        return "answer"

    assert world.breaker.ask("reranker", ACME, trial) == "answer"


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
