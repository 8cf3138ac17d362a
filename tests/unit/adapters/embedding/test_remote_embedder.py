"""Both kinds of provider, played by a server on the loopback that speaks their protocols."""

import json
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import httpx2
import pytest

from archivolt.adapters.embedding.calls import EmbeddingCalls, asked_pause
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
from tests.fakes.embedding_server import (
    ACCOUNT,
    MODEL,
    EmbeddingServer,
    Trouble,
    embedding_server,
)

KEY = "a-key-" + "of-nobody"
WORKERS = f"/accounts/{ACCOUNT}/ai/run/{MODEL}"
OPENAI = "/v1/embeddings"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


class Waits(list[float]):
    """Waits no time, and remembers how long it should have."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def words(text: str) -> int:
    return len(text.split())


@cache
def client_for(allowed: str) -> httpx2.Client:
    return guarded_client(OutboundRules.from_setting(allowed))


def an_embedder(
    server: EmbeddingServer,
    protocol: EmbeddingProtocol | None = None,
    *,
    path: str = WORKERS,
    allowed: str = "127.0.0.1",
    pause: Callable[[float], None] | None = None,
    max_tokens: int = 512,
    prefixes: tuple[str, str] = ("", ""),
) -> RemoteEmbedder:
    wait = Waits() if pause is None else pause
    calls = EmbeddingCalls(client_for(allowed), f"{server.url}{path}", KEY, pause=wait)
    model = EmbeddingModel(
        provider="toy",
        name="bge-m3",
        dimension=1024,
        max_tokens=max_tokens,
        query_prefix=prefixes[0],
        passage_prefix=prefixes[1],
    )
    return RemoteEmbedder(calls, protocol or WorkersAI(), model, count=words)


an_openai_embedder = partial(an_embedder, protocol=OpenAIEmbeddings("bge-m3", 1024), path=OPENAI)
MAKERS = pytest.mark.parametrize("make", [an_embedder, an_openai_embedder])
Maker = Callable[..., RemoteEmbedder]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@MAKERS
def test_each_text_has_its_own_vector_of_unit_length(server: EmbeddingServer, make: Maker) -> None:
    embedder = make(server)

    llamas, alpacas, both = embedder.embed_passages(["llamas", "alpacas", "llamas alpacas"])

    for vector in (llamas, alpacas, both):
        assert len(vector) == embedder.dimension
        assert math.hypot(*vector) == pytest.approx(1.0)
    assert cosine(llamas, embedder.embed_query("llamas")) == pytest.approx(1.0)
    assert cosine(llamas, alpacas) == pytest.approx(0.0)
    assert cosine(llamas, both) == pytest.approx(math.sqrt(0.5))


def test_workers_ai_is_asked_in_its_words_and_never_to_truncate(server: EmbeddingServer) -> None:
    an_embedder(server).embed_passages(["one", "deux"])

    assert server.paths == [WORKERS]
    assert server.bodies == [{"text": ["one", "deux"], "truncate_inputs": False}]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_an_openai_endpoint_is_asked_in_its_words(server: EmbeddingServer) -> None:
    an_openai_embedder(server).embed_passages(["one", "deux"])

    assert server.bodies == [
        {"model": "bge-m3", "encoding_format": "float", "input": ["one", "deux"]}
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_only_models_that_can_be_shortened_are_asked_for_a_length() -> None:
    asked = OpenAIEmbeddings("text-embedding-3-small", 512).question(["a"])
    assert asked["dimensions"] == 512


def test_without_a_key_no_authorization_is_sent(server: EmbeddingServer) -> None:
    model = EmbeddingModel(provider="toy", name="bge-m3", dimension=1024)
    calls = EmbeddingCalls(client_for("127.0.0.1"), f"{server.url}{WORKERS}", "")
    RemoteEmbedder(calls, WorkersAI(), model, count=words).embed_query("a")
    assert "authorization" not in server.headers[0]


@MAKERS
def test_many_texts_go_in_requests_that_the_provider_takes(
    server: EmbeddingServer, make: Maker
) -> None:
    texts = [f"text number {number}" for number in range(250)]

    vectors = make(server).embed_passages(texts)

    assert server.texts == texts
    sizes = [len(body.get("text") or body["input"]) for body in server.bodies]
    assert max(sizes) <= (96 if make is an_embedder else 32)
    assert len(sizes) == math.ceil(250 / max(sizes))
    assert list(vectors[249]) == list(make(server).embed_passages([texts[249]])[0])


def test_long_texts_go_in_smaller_requests(server: EmbeddingServer) -> None:
    texts = [f"{number} " + "word " * 5_999 for number in range(4)]

    an_openai_embedder(server, max_tokens=8_192).embed_passages(texts)

    assert [len(body["input"]) for body in server.bodies] == [2, 2]


@MAKERS
def test_equal_texts_are_sent_once(server: EmbeddingServer, make: Maker) -> None:
    one, other, again = make(server).embed_passages(["llamas", "alpacas", "llamas"])

    assert server.texts == ["llamas", "alpacas"]
    assert list(one) == list(again) != list(other)


def test_a_text_over_the_models_length_is_sent_in_pieces_and_none_of_it_is_lost(
    server: EmbeddingServer,
) -> None:
    text = " ".join(f"w{number}" for number in range(50))
    embedder = an_embedder(server, max_tokens=8)

    vector = embedder.embed_query(text)

    assert " ".join(piece.strip() for piece in server.texts) == text
    assert max(map(words, server.texts)) <= 8
    assert math.hypot(*vector) == pytest.approx(1.0)
    for each in ("w0", "w49"):
        assert cosine(vector, embedder.embed_query(each)) > 0


def test_questions_and_passages_have_the_prefixes_of_the_model(server: EmbeddingServer) -> None:
    embedder = an_embedder(server, prefixes=("query: ", "passage: "))
    embedder.embed_passages(["a"])
    embedder.embed_query("b")
    assert server.texts == ["passage: a", "query: b"]


def test_half_a_surrogate_pair_is_sent_as_a_question_mark(server: EmbeddingServer) -> None:
    an_embedder(server).embed_passages(["a\ud800b \U0001f600 é"])
    assert server.texts == ["a?b \U0001f600 é"]


@MAKERS
@pytest.mark.parametrize(
    "trouble", [Trouble(status=429), Trouble(status=503), Trouble(hangs_up=True)]
)
def test_what_may_pass_is_tried_again_after_longer_and_longer_waits(
    server: EmbeddingServer, make: Maker, trouble: Trouble
) -> None:
    waits = Waits()
    server.troubles = [trouble, trouble, trouble]

    [vector] = make(server, pause=waits).embed_passages(["llamas"])

    assert len(vector) == 1024
    assert waits == [0.5, 2.0, 6.0]


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 0.5),
        ({"Retry-After": "soon"}, 0.5),
    ],
)
def test_a_provider_that_says_when_to_come_again_is_heard(
    server: EmbeddingServer, headers: dict[str, str], waited: float
) -> None:
    waits = Waits()
    server.troubles = [Trouble(status=429, headers=headers)]
    an_embedder(server, pause=waits).embed_passages(["llamas"])
    assert waits == [waited]


def test_the_moment_of_coming_again_may_be_a_date() -> None:
    headers = {
        "date": "Tue, 01 Sep 2026 08:30:00 GMT",
        "retry-after": "Tue, 01 Sep 2026 08:30:09 GMT",
    }
    assert asked_pause(httpx2.Response(429, headers=headers)) == 9.0


def test_a_provider_that_wants_too_long_a_wait_is_left_to_the_queue(
    server: EmbeddingServer,
) -> None:
    waits = Waits()
    server.troubles = [Trouble(status=429, headers={"Retry-After": "60"})]
    with pytest.raises(UnavailableError):
        an_embedder(server, pause=waits).embed_passages(["llamas"])
    assert waits == []
    assert len(server.bodies) == 1


def test_all_requests_of_one_task_share_its_waits(server: EmbeddingServer) -> None:
    waits = Waits()
    server.most_texts = 0
    server.troubles = [Trouble(status=503)] * 9
    with pytest.raises(UnavailableError):
        an_embedder(server, pause=waits).embed_passages([str(n) for n in range(300)])
    assert waits == [0.5, 2.0, 6.0]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (httpx2.ReadTimeout(""), "provider_silent"),
        (httpx2.ConnectTimeout(""), "provider_unreachable"),
    ],
)
def test_a_provider_that_is_too_slow_is_not_asked_twice(error: Exception, reason: str) -> None:
    asked: list[httpx2.Request] = []

    def never(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        raise error

    client = httpx2.Client(transport=httpx2.MockTransport(never))
    waits = Waits()
    calls = EmbeddingCalls(client, "https://provider.example/", KEY, pause=waits)
    model = EmbeddingModel(provider="toy", name="bge-m3", dimension=1024)
    embedder = RemoteEmbedder(calls, WorkersAI(), model, count=words)
    with pytest.raises(UnavailableError) as raised:
        embedder.embed_query("a")
    assert (len(asked), waits) == (1, [])
    assert raised.value.details["reason"] == reason

    # Passages can wait for a connection that was lost, not for an answer.
    with pytest.raises(UnavailableError) as raised:
        embedder.embed_passages(["a"])
    assert raised.value.details["reason"] == reason
    assert waits == ([0.5, 2.0, 6.0] if reason == "provider_unreachable" else [])


def test_a_secret_in_a_question_stays_here(server: EmbeddingServer) -> None:
    secret = "AKIA" + "QYLPMN5HFIQR7XYA"
    an_embedder(server).embed_query(f"who uses {secret}")
    assert server.texts == ["who uses [redacted:aws-key]"]


def test_a_person_waits_for_one_short_retry_only(server: EmbeddingServer) -> None:
    waits = Waits()
    server.troubles = [Trouble(status=503)] * 5
    with pytest.raises(UnavailableError):
        an_embedder(server, pause=waits).embed_query("llamas")
    assert waits == [0.3]


@MAKERS
@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(status=401),
        Trouble(status=400),
        Trouble(status=302, headers={"Location": "http://10.0.0.1/"}),
        Trouble(body=b"<html>"),
        Trouble(body=b"[]"),
        Trouble(body=b'{"result": {"data": []}, "data": []}'),
        Trouble(body=b'{"result": {"data": [[1, 2]]}, "data": [{"embedding": [1, 2]}]}'),
        Trouble(body=b'{"result": {"data": [null]}, "data": [{"index": 0}]}'),
        Trouble(body=b'{"result": null, "data": [{"index": 1, "embedding": []}]}'),
    ],
)
def test_what_will_not_pass_is_unavailable_at_once(
    server: EmbeddingServer, make: Maker, trouble: Trouble
) -> None:
    waits = Waits()
    server.troubles = [trouble]
    with pytest.raises(UnavailableError):
        make(server, pause=waits).embed_passages(["llamas"])
    assert waits == []
    assert len(server.bodies) == 1


@MAKERS
def test_vectors_of_another_length_are_refused(server: EmbeddingServer, make: Maker) -> None:
    server.longer_by = 1
    with pytest.raises(UnavailableError):
        make(server).embed_passages(["llamas"])


@pytest.mark.parametrize("number", ["NaN", "1e999", "1" + "0" * 400, '"1"', "null", "true"])
def test_what_is_no_number_is_refused(server: EmbeddingServer, number: str) -> None:
    row = ", ".join([number, *["0.5"] * 1023])
    server.troubles = [Trouble(body=f'{{"result": {{"data": [[{row}]]}}}}'.encode())]
    with pytest.raises(UnavailableError):
        an_embedder(server).embed_passages(["llamas"])


def test_a_vector_without_direction_is_refused(server: EmbeddingServer) -> None:
    body = json.dumps({"result": {"data": [[0.0] * 1024]}}).encode()
    server.troubles = [Trouble(body=body)]
    with pytest.raises(UnavailableError):
        an_embedder(server).embed_passages(["llamas"])


def test_a_private_address_that_nobody_allowed_is_not_called(server: EmbeddingServer) -> None:
    with pytest.raises(UnavailableError):
        an_embedder(server, allowed="").embed_query("llamas")
    assert server.bodies == []


def test_neither_the_key_nor_a_text_is_logged(
    server: EmbeddingServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    echo = json.dumps({"errors": [{"message": f"{KEY} llamas"}]}).encode()
    server.troubles = [Trouble(status=500, body=echo), Trouble(hangs_up=True)]
    server.troubles += [Trouble(status=401, body=echo)]
    with caplog.at_level(logging.DEBUG), pytest.raises(UnavailableError) as unavailable:
        an_embedder(server).embed_passages(["llamas"])
    said = f"{caplog.text} {capfd.readouterr()} {unavailable.value!r}"
    assert KEY not in said
    assert "llamas" not in said
