"""Calls of a vector store on a real socket: the time of an answer is for the whole of it."""

import ssl
from collections.abc import Iterator

import pytest
from httpcore2 import NetworkStream, ReadTimeout

from archivolt.adapters.http.timed import TimedStream
from archivolt.adapters.qdrant import rest
from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.domain.errors import UnavailableError
from tests.unit.adapters.loopback_server import Answer, LoopbackServer, loopback_server

POINTS = Answer(body=b'{"result": {"points": []}}')


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with loopback_server({"/search": POINTS}) as server:
        yield server


@pytest.fixture
def qdrant(server: LoopbackServer) -> Iterator[QdrantRest]:
    qdrant = QdrantRest(f"http://127.0.0.1:{server.port}", "")
    yield qdrant
    qdrant.close()


def test_a_store_that_says_a_letter_at_a_time_keeps_no_search_waiting(
    server: LoopbackServer, qdrant: QdrantRest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "_SEARCH_SECONDS", 0.1)
    server.dribble = 0.02
    with pytest.raises(UnavailableError) as raised:
        qdrant.search("/search", {})
    assert raised.value.details["reason"] == "provider_silent"


def test_who_answers_in_time_is_heard(qdrant: QdrantRest) -> None:
    assert [qdrant.search("/search", {}) for _ in range(3)] == [{"points": []}] * 3


class Letters(NetworkStream):
    """Says a letter whenever it is read, and remembers how long each could have taken."""

    def __init__(self) -> None:
        self.waits: list[float | None] = []

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.waits.append(timeout)
        return b"x"[:max_bytes]

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> NetworkStream:
        return self


def test_the_time_of_an_answer_begins_with_the_last_word_of_its_request() -> None:
    now = 100.0
    letters = Letters()
    stream = TimedStream(letters, clock=lambda: now)
    now = 200.0
    stream.write(b"GET")
    stream.read(1, timeout=3)
    now = 202.0
    stream.read(1, timeout=3)
    now = 203.0
    with pytest.raises(ReadTimeout):
        stream.read(1, timeout=3)
    stream.write(b"GET")
    stream.read(1, timeout=3)
    assert letters.waits == [3, 1, 3]


def test_a_secured_connection_is_held_to_its_time_too() -> None:
    now = 100.0
    stream = TimedStream(Letters(), clock=lambda: now).start_tls(ssl.create_default_context())
    now = 104.0
    with pytest.raises(ReadTimeout):
        stream.read(1, timeout=3)
