"""Reading pages: what is read, and every form of address that is not."""

import gzip
import time
from collections.abc import Iterator
from functools import cache

import httpx2
import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.backends import GuardedBackend
from archivolt.adapters.http.outbound import Caps, GuardedTransport, guarded_client
from archivolt.adapters.http.web_addresses import page_address
from archivolt.adapters.http.web_pages import HttpWebPages
from archivolt.composition.extraction import extractor_of_all_formats
from archivolt.domain.errors import (
    ArchivoltError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
    UnsupportedContentError,
)
from archivolt.ports.web import WebPage
from tests.documents import pdf
from tests.unit.adapters.loopback_server import Answer, LoopbackServer, loopback_server

ALLOWED = OutboundRules.from_setting("127.0.0.1")
SMALL = Caps(max_bytes=10_000, seconds=5)
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = (
    "<html><head><title>Tarifs &amp; délais</title><script>steal()</script></head><body>"
    "<h1>Tarifs</h1><p>La livraison coûte <b>5 €</b>.</p></body></html>"
)


@cache
def pages(rules: OutboundRules = ALLOWED, caps: Caps = SMALL) -> HttpWebPages:
    any_port = bool(rules.allowed)
    return HttpWebPages(guarded_client(rules, caps), extractor_of_all_formats, any_port=any_port)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with loopback_server({}) as server:
        yield server


def fetch(server: LoopbackServer, answer: Answer, path: str = "/page") -> WebPage:
    server.answers[path] = answer
    return pages().fetch(f"http://127.0.0.1:{server.port}{path}")


def test_a_page_is_read_as_its_text(server: LoopbackServer) -> None:
    page = fetch(server, Answer(body=PAGE.encode(), headers=HTML))

    assert page.url == f"http://127.0.0.1:{server.port}/page"
    assert (page.title, page.content_type) == ("Tarifs & délais", "text/html")
    assert page.text.startswith("# Tarifs")
    assert "La livraison coûte" in page.text
    assert "steal" not in page.text


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        (
            "text/html; charset=iso-8859-1",
            "<p>d\u00e9j\u00e0</p>".encode("latin-1"),
            "d\u00e9j\u00e0",
        ),
        ("text/plain; charset=windows-1252", "5 \u20ac".encode("cp1252"), "5 \u20ac"),
        ("text/plain", "d\u00e9j\u00e0 vu".encode(), "d\u00e9j\u00e0 vu"),
        ("text/markdown", b"# Plan\n\n- one", "# Plan\n\n- one"),
        ("application/json", b'{"price": 5}', '{"price": 5}'),
        ("text/html; charset=no-such", b"<p>ok</p>", "ok"),
        ("", b"<!doctype html><p>ok</p>", "ok"),
    ],
)
def test_text_of_each_kind_is_read(
    server: LoopbackServer, kind: str, body: bytes, text: str
) -> None:
    page = fetch(server, Answer(body=body, headers={"Content-Type": kind} if kind else {}))

    assert text in page.text


def test_a_pdf_is_read(server: LoopbackServer) -> None:
    data = pdf([["Conditions de vente"]])

    page = fetch(server, Answer(body=data, headers={"Content-Type": "application/pdf"}))

    assert "Conditions de vente" in page.text


def test_what_has_no_text_is_refused(server: LoopbackServer) -> None:
    with pytest.raises(UnsupportedContentError) as refused:
        fetch(server, Answer(body=b"\x00\x01\xff", headers={"Content-Type": "video/mp4"}))

    assert refused.value.code == "web_page_unreadable"


def test_a_redirect_is_followed_and_the_page_says_where_it_is(server: LoopbackServer) -> None:
    server.answers["/new"] = Answer(body=PAGE.encode(), headers=HTML)

    page = fetch(server, Answer(status=301, headers={"Location": "/new#part"}))

    assert page.url.endswith("/new")
    assert server.paths == ["/page", "/new"]


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost/",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.2]/",
        "//2130706434/",
        "https://0x7f.0.0.2/",
    ],
)
def test_a_redirect_to_a_private_address_is_refused(server: LoopbackServer, location: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        fetch(server, Answer(status=302, headers={"Location": location}))

    assert refused.value.code == "address_not_allowed"


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", "url_scheme"),
        ("ftp://example.org/", "url_scheme"),
        ("data:text/html,hi", "url_scheme"),
        ("http://ann:pw@example.org/", "url_credentials"),
    ],
)
def test_a_redirect_to_another_kind_of_address_is_refused(
    server: LoopbackServer, location: str, reason: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        fetch(server, Answer(status=302, headers={"Location": location}))

    assert refused.value.details["reason"] == reason


def test_cookies_are_brought_back_on_the_way_to_a_page_and_forgotten_with_it(
    server: LoopbackServer,
) -> None:
    headers = {"Location": "/page", "Set-Cookie": "way=1; Path=/"}
    server.answers["/on"] = Answer(status=302, headers=headers)
    server.answers["/page"] = Answer(body=b"hello", headers={"Content-Type": "text/plain"})
    for _ in range(2):
        pages().fetch(f"http://127.0.0.1:{server.port}/on")

    brought = [each.get("cookie") for each in server.request_headers]
    assert brought == [None, "way=1", None, "way=1"]


def test_redirects_end(server: LoopbackServer) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        fetch(server, Answer(status=302, headers={"Location": "/page"}))

    assert refused.value.details["reason"] == "url_redirects"
    assert len(server.paths) == 6


@pytest.mark.parametrize("status", [401, 404, 418, 500, 304])
def test_an_answer_that_is_no_page_says_its_status(server: LoopbackServer, status: int) -> None:
    with pytest.raises(NotFoundError) as refused:
        fetch(server, Answer(status=status, body=b""))

    assert (refused.value.code, refused.value.details["status"]) == ("web_page_refused", status)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"x" * 10_001),
        Answer(body=b"x" * 10_001, announce_length=False),
        Answer(body=gzip.compress(b"x" * 9_000_000), headers={"Content-Encoding": "gzip"}),
        Answer(body=b"x", headers={"Content-Encoding": "br"}),
    ],
    ids=["announced", "unannounced", "bomb", "other compression"],
)
def test_a_page_over_the_cap_or_compressed_is_refused(
    server: LoopbackServer, answer: Answer
) -> None:
    with pytest.raises(TooLargeError):
        fetch(server, answer)


def test_a_server_that_says_little_from_time_to_time_keeps_nobody_waiting(
    server: LoopbackServer,
) -> None:
    server.dribble = 0.02
    started = time.monotonic()

    with pytest.raises(UnavailableError):
        pages(caps=Caps(seconds=0.2)).fetch(f"http://127.0.0.1:{server.port}/slow")

    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://0/",
        "http://localhost/",
        "http://LOCALHOST/",
        "http://localhost./",
        "http://127.0.0.1./",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fd00:ec2::254]/",
        "http://169.254.169.254/latest/",
        "http://10.0.0.1/",
        "http://192.168.1.1:8080/",
        "http://100.64.0.1/",
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://\u2460\u2461\u2466.0.0.1/",
        "http://127\u30020.0.1/",
        "http://ⓛocalhost/",
        "https://user@127.0.0.1/",
        "http://127.0.0.1:22/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org#@127.0.0.1:99999/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "ftp://example.org/",
        "jar:http://example.org!/",
        "javascript:alert(1)",
        "data:text/html,hi",
        "//example.org/",
        "example.org",
        "http://",
        "http:///etc",
        "https:example.org",
        "http://example.org:0/",
        "http://example.org:99999/",
        "http://example.org:x/",
        "http://example.org/\r\nHost: a",
        "http://exa mple.org/",
        "",
    ],
)
def test_no_other_address_is_read(url: str) -> None:
    with pytest.raises(ArchivoltError) as refused:
        pages(OutboundRules()).fetch(url)

    assert refused.value.code in {"web_address_invalid", "address_not_allowed"} or (
        # The resolver finds nothing of this name, and nothing was called.
        refused.value.code == "web_page_unavailable"
    )


def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    def both(
        host: str, port: int
    ) -> list[tuple[int, int, int, str, tuple[str | int | bytes, ...]]]:
        return [(2, 1, 6, "", ("93.184.216.34", port)), (2, 1, 6, "", ("10.0.0.1", port))]

    backend = GuardedBackend(OutboundRules(), resolve=both)
    with httpx2.Client(transport=GuardedTransport(backend, Caps())) as client:
        mixed = HttpWebPages(client, extractor_of_all_formats)
        with pytest.raises(InvalidRequestError) as refused:
            mixed.fetch("https://both.example/")

    assert refused.value.code == "address_not_allowed"


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c"),
        (" http://example.org ", "http://example.org"),
        ("HTTPS://example.org:8443/", "https://example.org:8443/"),
        ("https://b\u00fccher.example/caf\u00e9", "https://b\u00fccher.example/caf\u00e9"),
    ],
)
def test_an_address_is_asked_for_as_it_is_written(url: str, asked: str) -> None:
    assert page_address(url) == asked


def test_a_page_at_an_unusual_port_is_refused() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        page_address("http://example.org:6379/")

    assert refused.value.details["reason"] == "url_port"


def test_a_refused_address_does_not_repeat_its_password() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        page_address("https://ann:" + "hunter2@" + "example.org/")

    assert "hunter2" not in str(refused.value.details)
