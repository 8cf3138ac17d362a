"""What providers are asked about a key, and what becomes of their answers."""

import logging

import httpx2
import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.outbound import guarded_client
from archivolt.adapters.provider_keys.check import HttpProviderKeyCheck
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.providers import PRESETS, WireFormat
from archivolt.ports.chat_model import ProviderConnection
from archivolt.ports.provider_keys import KeyTrial, KeyVerdict
from tests.unit.adapters.loopback_server import Answer, loopback_server

KEY = "sk-" + "q" * 30


def connection(base_url: str, wire: WireFormat = WireFormat.OPENAI) -> ProviderConnection:
    return ProviderConnection(provider="p", base_url=base_url, key=KEY, wire_format=wire)


def asked(at: ProviderConnection, status: int = 200) -> tuple[httpx2.Request, KeyTrial]:
    """Return what is sent to a connection, and what comes of a status."""
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(status, text=f"the key {KEY} is no good")

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    trial = HttpProviderKeyCheck(lambda: client).check(at)
    [request] = requests
    return request, trial


@pytest.mark.parametrize(
    ("base_url", "wire", "url", "header"),
    [
        ("https://m.test/v1", WireFormat.OPENAI, "https://m.test/v1/models", "authorization"),
        (
            "https://m.test/v1/chat/completions/",
            WireFormat.OPENAI,
            "https://m.test/v1/models",
            "authorization",
        ),
        (
            PRESETS["openrouter"].base_url,
            WireFormat.OPENAI,
            "https://openrouter.ai/api/v1/key",
            "authorization",
        ),
        ("https://a.test", WireFormat.ANTHROPIC, "https://a.test/v1/models?limit=1", "x-api-key"),
        (
            "https://a.test/v1/messages",
            WireFormat.ANTHROPIC,
            "https://a.test/v1/models?limit=1",
            "x-api-key",
        ),
        (
            "https://g.test",
            WireFormat.GEMINI,
            "https://g.test/v1beta/models?pageSize=1",
            "x-goog-api-key",
        ),
    ],
)
def test_a_provider_is_asked_for_what_costs_nothing(
    base_url: str, wire: WireFormat, url: str, header: str
) -> None:
    request, trial = asked(connection(base_url, wire))

    assert (request.method, str(request.url)) == ("GET", url)
    assert KEY in request.headers[header]
    assert KEY not in str(request.url)
    assert trial == KeyTrial(verdict=KeyVerdict.ACCEPTED, status=200)


@pytest.mark.parametrize(
    ("status", "wire", "verdict"),
    [
        (401, WireFormat.OPENAI, KeyVerdict.REFUSED),
        (403, WireFormat.ANTHROPIC, KeyVerdict.REFUSED),
        (402, WireFormat.OPENAI, KeyVerdict.REFUSED),
        (400, WireFormat.GEMINI, KeyVerdict.REFUSED),
        (400, WireFormat.OPENAI, KeyVerdict.UNCLEAR),
        (302, WireFormat.OPENAI, KeyVerdict.UNCLEAR),
        (404, WireFormat.OPENAI, KeyVerdict.UNCLEAR),
        (429, WireFormat.ANTHROPIC, KeyVerdict.UNCLEAR),
        (500, WireFormat.GEMINI, KeyVerdict.UNCLEAR),
    ],
)
def test_of_an_answer_the_status_alone_is_told(
    status: int, wire: WireFormat, verdict: KeyVerdict, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    _, trial = asked(connection("https://m.test/v1", wire), status)

    assert trial == KeyTrial(verdict=verdict, status=status)
    assert KEY not in repr(trial)
    assert KEY not in caplog.text


def test_a_host_that_is_not_public_is_not_asked_unless_it_is_allowed() -> None:
    with loopback_server({"/v1/models": Answer()}) as server:
        at = connection(f"http://127.0.0.1:{server.port}/v1")
        with pytest.raises(InvalidRequestError, match="address_not_allowed"):
            HttpProviderKeyCheck(lambda: guarded_client(OutboundRules())).check(at)
        assert server.paths == []

        allowed = guarded_client(OutboundRules.from_setting("127.0.0.1"))
        assert HttpProviderKeyCheck(lambda: allowed).check(at).verdict is KeyVerdict.ACCEPTED


def test_nobody_at_the_address_is_unreachable() -> None:
    with loopback_server({}) as server:
        port = server.port
    allowed = guarded_client(OutboundRules.from_setting("127.0.0.1"))

    trial = HttpProviderKeyCheck(lambda: allowed).check(connection(f"http://127.0.0.1:{port}/v1"))

    assert trial == KeyTrial(verdict=KeyVerdict.UNREACHABLE)
