"""The search engine, played by a server on the loopback."""

import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from archivolt.adapters.http.outbound import guarded_client
from archivolt.adapters.searxng.search import SearxngSearch, rules_for
from archivolt.composition.web import web_search
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.ports.web import WebHit, WebQuery
from tests.unit.adapters.loopback_server import Answer, LoopbackServer, loopback_server

FOUND = {
    "query": "prix",
    "number_of_results": 0,
    "results": [
        {
            "title": "Tarifs",
            "url": "https://example.org/tarifs",
            "content": "La livraison co\u00fbte 5 \u20ac.",
            "engine": "wikipedia",
            "publishedDate": "2026-01-05T00:00:00",
        },
        {"title": "No page", "url": "magnet:?xt=1"},
        {"title": None, "url": "http://example.org/", "content": 5},
        "nonsense",
    ],
    "unresponsive_engines": [["google", "timeout"]],
}


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with loopback_server({}) as server:
        yield server


def answered(server: LoopbackServer, answer: Answer, query: WebQuery | None = None) -> list[WebHit]:
    address = f"http://127.0.0.1:{server.port}/searx/"
    server.any_path = answer
    with guarded_client(rules_for(address)) as client:
        return SearxngSearch(client, address).search(query or WebQuery(q="prix"))


def test_pages_are_found_in_the_order_of_the_engine(server: LoopbackServer) -> None:
    assert answered(server, Answer(body=json.dumps(FOUND).encode())) == [
        WebHit(
            title="Tarifs",
            url="https://example.org/tarifs",
            excerpt="La livraison co\u00fbte 5 \u20ac.",
            published="2026-01-05T00:00:00",
        ),
        WebHit(title="", url="http://example.org/", excerpt=""),
    ]


def test_the_engine_is_asked_for_what_was_wanted(server: LoopbackServer) -> None:
    query = WebQuery(q="prix & d\u00e9lais", category="news", language="fr", page=2)

    answered(server, Answer(body=b'{"results": []}'), query)

    [path] = server.paths
    assert urlsplit(path).path == "/searx/search"
    assert parse_qs(urlsplit(path).query) == {
        "q": ["prix & d\u00e9lais"],
        "format": ["json"],
        "pageno": ["2"],
        "categories": ["news"],
        "language": ["fr"],
    }


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=403, body=b"the JSON format is off"),
        Answer(status=500),
        Answer(status=302, headers={"Location": "http://10.0.0.1/"}),
        Answer(body=b"<html>"),
        Answer(body=b"[]"),
        Answer(body=b'{"results": 5}'),
    ],
)
def test_an_engine_that_answers_otherwise_is_unavailable(
    server: LoopbackServer, answer: Answer
) -> None:
    with pytest.raises(UnavailableError) as unavailable:
        answered(server, answer)

    assert unavailable.value.code == "web_search_unavailable"


def test_without_an_address_the_search_says_that_it_is_not_configured() -> None:
    with pytest.raises(UnavailableError) as unavailable:
        web_search("").search(WebQuery(q="prix"))

    assert unavailable.value.code == "web_search_not_configured"


def test_only_the_named_engine_may_be_in_a_private_network() -> None:
    rules = rules_for("http://searx.internal:8888/base")

    rules.check("searx.internal", 8888, ["10.0.0.5"])
    for host, port in [("searx.internal", 80), ("other.internal", 8888), ("10.0.0.5", 8888)]:
        with pytest.raises(InvalidRequestError):
            rules.check(host, port, ["10.0.0.5"])
