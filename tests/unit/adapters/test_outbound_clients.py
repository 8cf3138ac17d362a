"""The guarded clients, against a server on the loopback; blocking and not, alike."""

import asyncio
import datetime as dt
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from httpcore2 import ConnectTimeout

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.backends import MAX_RESOLVING, AsyncGuardedBackend, GuardedBackend
from archivolt.adapters.http.documents import read_json
from archivolt.adapters.http.outbound import (
    AnswerCapError,
    AsyncGuardedTransport,
    Caps,
    GuardedTransport,
    guarded_async_client,
    guarded_client,
)
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from tests.e2e.stack import wait_until
from tests.unit.adapters.loopback_server import Answer, LoopbackServer, loopback_server

LOOPBACK_ALLOWED = OutboundRules.from_setting("127.0.0.1,localhost")

Get = Callable[..., httpx2.Response]


def get_blocking(
    url: str,
    rules: OutboundRules = LOOPBACK_ALLOWED,
    caps: Caps | None = None,
    tls: ssl.SSLContext | None = None,
) -> httpx2.Response:
    with guarded_client(rules, caps, tls=tls) as client:
        return client.get(url)


def get_async(
    url: str,
    rules: OutboundRules = LOOPBACK_ALLOWED,
    caps: Caps | None = None,
    tls: ssl.SSLContext | None = None,
) -> httpx2.Response:
    async def run() -> httpx2.Response:
        async with guarded_async_client(rules, caps, tls=tls) as client:
            return await client.get(url)

    return asyncio.run(run())


@pytest.fixture(params=[get_blocking, get_async])
def get(request: pytest.FixtureRequest) -> Get:
    return request.param


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    answers = {
        "/": Answer(),
        "/away": Answer(status=302, headers={"Location": "http://169.254.169.254/latest"}),
        "/large": Answer(body=b"x" * 3_000),
        "/endless": Answer(body=b"x" * 3_000, announce_length=False),
        "/cookie": Answer(headers={"Set-Cookie": "whose=theirs; Path=/"}),
        "/packed": Answer(body=b"packed", headers={"Content-Encoding": "gzip"}),
    }
    with loopback_server(answers) as server:
        yield server


def test_an_allowed_host_answers(get: Get, server: LoopbackServer) -> None:
    response = get(f"http://localhost:{server.port}/")

    assert (response.status_code, response.content) == (200, b"ok")
    assert server.hosts == [f"localhost:{server.port}"]


def test_an_answer_is_asked_for_uncompressed_and_without_credentials(
    get: Get, server: LoopbackServer
) -> None:
    get(f"http://127.0.0.1:{server.port}/")

    [headers] = server.request_headers
    assert headers["accept-encoding"] == "identity"
    assert "authorization" not in headers


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f000001",
        "0.0.0.0",  # noqa: S104
        "169.254.169.254",
        "10.0.0.1",
        "[fc00::1]",
        "[fe80::1]",
    ],
)
def test_no_private_address_is_reached(get: Get, server: LoopbackServer, host: str) -> None:
    with pytest.raises((InvalidRequestError, httpx2.InvalidURL)) as refused:
        get(f"http://{host}:{server.port}/", OutboundRules())

    if isinstance(refused.value, InvalidRequestError):
        assert refused.value.code == "address_not_allowed"
    assert server.paths == []


def test_a_redirect_is_returned_and_not_followed(get: Get, server: LoopbackServer) -> None:
    response = get(f"http://127.0.0.1:{server.port}/away")

    assert response.status_code == 302
    assert server.paths == ["/away"]


def test_what_one_caller_is_given_to_keep_is_not_sent_for_another(server: LoopbackServer) -> None:
    url = f"http://127.0.0.1:{server.port}/cookie"

    async def ask_twice() -> None:
        async with guarded_async_client(LOOPBACK_ALLOWED) as client:
            await client.get(url)
            await client.get(url)

    with guarded_client(LOOPBACK_ALLOWED) as client:
        client.get(url)
        client.get(url)
    asyncio.run(ask_twice())

    assert [headers.get("cookie") for headers in server.request_headers] == [None] * 4


@pytest.mark.parametrize("path", ["/large", "/endless"])
def test_an_answer_over_the_cap_is_cut_off(get: Get, server: LoopbackServer, path: str) -> None:
    with pytest.raises(AnswerCapError):
        get(f"http://127.0.0.1:{server.port}{path}", caps=Caps(max_bytes=2_999))

    assert (
        len(get(f"http://127.0.0.1:{server.port}{path}", caps=Caps(max_bytes=3_000)).content)
        == 3_000
    )


def test_an_answer_that_takes_too_long_is_cut_off(get: Get, server: LoopbackServer) -> None:
    with pytest.raises(httpx2.ReadTimeout):
        get(f"http://127.0.0.1:{server.port}/", caps=Caps(seconds=-1))


def test_a_compressed_answer_is_refused(get: Get, server: LoopbackServer) -> None:
    with pytest.raises(AnswerCapError):
        get(f"http://127.0.0.1:{server.port}/packed")


def test_a_proxy_of_the_environment_is_not_used(
    get: Get, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert get(f"http://127.0.0.1:{server.port}/").status_code == 200


@pytest.mark.parametrize("url", ["http://no-such-host.invalid/", "http://127.0.0.1:9/"])
def test_what_cannot_be_reached_is_a_connection_error(get: Get, url: str) -> None:
    with pytest.raises(httpx2.ConnectError):
        get(url)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"])
def test_only_http_is_spoken(get: Get, url: str) -> None:
    with pytest.raises(httpx2.UnsupportedProtocol):
        get(url)


Found = list[tuple[int, int, int, str, tuple[str | int | bytes, ...]]]


class ChangingResolver:
    """Gives the loopback at first and another address from then on, as a rebinding name does."""

    def __init__(self, port: int) -> None:
        self.asked = 0
        self._port = port

    def __call__(self, host: str, port: int) -> Found:
        self.asked += 1
        address = "127.0.0.1" if self.asked == 1 else "192.0.2.1"
        return [(2, 1, 6, "", (address, self._port))]

    async def asynchronously(self, host: str, port: int) -> Found:
        return self(host, port)


def test_a_name_is_resolved_once_and_the_checked_address_is_used(server: LoopbackServer) -> None:
    rules = OutboundRules.from_setting("models.example")
    resolver = ChangingResolver(server.port)
    transport = GuardedTransport(GuardedBackend(rules, resolve=resolver), Caps())

    with httpx2.Client(transport=transport) as client:
        response = client.get(f"http://models.example:{server.port}/")

    assert (response.content, resolver.asked) == (b"ok", 1)
    assert server.hosts == [f"models.example:{server.port}"]


def test_nobody_waits_for_a_resolver_that_does_not_answer() -> None:
    is_over = Event()

    def resolve(_: str, __: int) -> Found:
        is_over.wait()
        return []

    transport = GuardedTransport(GuardedBackend(OutboundRules(), resolve=resolve), Caps())
    with httpx2.Client(transport=transport) as client, pytest.raises(httpx2.ConnectTimeout):
        client.get("http://models.example/", timeout=httpx2.Timeout(30, connect=0.01))
    is_over.set()


Connect = Callable[[str, int, float], None]


@pytest.fixture(params=["blocking", "async"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Give what connects and closes, on one event loop where it needs one."""
    blocking, backend = GuardedBackend(LOOPBACK_ALLOWED), AsyncGuardedBackend(LOOPBACK_ALLOWED)

    def at_once(host: str, port: int, seconds: float) -> None:
        blocking.connect_tcp(host, port, seconds).close()

    async def in_a_loop(host: str, port: int, seconds: float) -> None:
        await (await backend.connect_tcp(host, port, seconds)).aclose()

    with asyncio.Runner() as runner:

        def on_it(host: str, port: int, seconds: float) -> None:
            runner.run(in_a_loop(host, port, seconds))

        yield at_once if request.param == "blocking" else on_it


def test_names_that_hang_keep_nobody_waiting_and_are_so_many_at_most(
    connect: Connect, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, known = Event(), socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *given: int, **named: int) -> object:
        if host == "slow.example":
            is_over.wait()
        return known("127.0.0.1", port, *given, **named)

    def is_reached(host: str, seconds: float = 30) -> bool:
        try:
            connect(host, server.port, seconds)
        except ConnectTimeout:
            return False
        return True

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    hung = 0
    while is_reached("localhost") and hung <= MAX_RESOLVING:
        assert not is_reached("slow.example", 0.001)
        hung += 1
    is_over.set()

    assert MAX_RESOLVING // 2 < hung <= MAX_RESOLVING
    wait_until(lambda: is_reached("localhost"))


def test_a_head_without_end_has_the_read_timeout_where_a_client_says_no_other(
    server: LoopbackServer,
) -> None:
    server.dribble = 0.01
    client = guarded_client(LOOPBACK_ALLOWED, Caps(seconds=None))
    with client, pytest.raises(httpx2.ReadTimeout):
        client.get(f"http://127.0.0.1:{server.port}/", timeout=httpx2.Timeout(30, read=0.1))


def test_a_name_is_resolved_once_without_blocking_too(server: LoopbackServer) -> None:
    rules = OutboundRules.from_setting("models.example")
    resolver = ChangingResolver(server.port)
    backend = AsyncGuardedBackend(rules, resolve=resolver.asynchronously)

    async def run() -> httpx2.Response:
        transport = AsyncGuardedTransport(backend, Caps())
        async with httpx2.AsyncClient(transport=transport) as client:
            return await client.get(f"http://models.example:{server.port}/")

    assert (asyncio.run(run()).content, resolver.asked) == (b"ok", 1)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a self-signed certificate for `localhost`, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start.replace(year=2120))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(pem + made.public_bytes(serialization.Encoding.PEM))
    return path


def test_tls_is_about_the_name_and_not_the_address(get: Get, certificate: Path) -> None:
    asked_for: list[str | None] = []

    def note(_: object, server_name: str | None, __: object) -> None:
        asked_for.append(server_name)

    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    serving.sni_callback = note
    trusting = ssl.create_default_context(cafile=str(certificate))

    with loopback_server({"/": Answer()}, tls=serving) as server:
        response = get(f"https://localhost:{server.port}/", tls=trusting)
        with pytest.raises(httpx2.ConnectError):
            get(f"https://127.0.0.1:{server.port}/", tls=trusting)
        with pytest.raises(httpx2.ConnectError):
            get(f"https://localhost:{server.port}/")

    assert response.content == b"ok"
    assert asked_for[0] == "localhost"


def test_a_document_is_read() -> None:
    with (
        loopback_server({"/keys": Answer(body=b'{"keys": []}')}) as server,
        guarded_client(LOOPBACK_ALLOWED) as client,
    ):
        assert read_json(client, f"http://127.0.0.1:{server.port}/keys") == {"keys": []}


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"<html>"),
        Answer(body=b"\xff"),
        Answer(body=b"{}", status=500),
        Answer(body=b"{}", status=302, headers={"Location": "/other"}),
        Answer(body=b"{}", headers={"Content-Encoding": "gzip"}),
    ],
)
def test_a_document_that_cannot_be_read_is_unavailable(answer: Answer) -> None:
    with (
        loopback_server({"/keys": answer, "/other": Answer(body=b"{}")}) as server,
        guarded_client(LOOPBACK_ALLOWED) as client,
        pytest.raises(UnavailableError),
    ):
        read_json(client, f"http://127.0.0.1:{server.port}/keys")
