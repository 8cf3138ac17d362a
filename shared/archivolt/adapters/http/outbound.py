"""The clients for calls to hosts that are not ours: guarded addresses, caps on size and time.

Redirects are returned and not followed, proxies and credentials of the environment are not used,
no cookie is kept, as a client is everybody's, and answers are taken uncompressed, so that the cap
on bytes is a cap on what they become.
"""

import math
import ssl
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpcore2
import httpx2

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.backends import AsyncGuardedBackend, GuardedBackend
from archivolt.domain.limits import MAX_OUTBOUND_BYTES, MAX_OUTBOUND_SECONDS

_HEADERS: Final[Mapping[str, str]] = {
    "accept-encoding": "identity",
    "user-agent": "archivolt",
}
_CONNECTIONS: Final = 20
_IDLE_SECONDS: Final = 30.0
_CONNECT_SECONDS: Final = 5.0
# Between two pieces of an answer; a model may think for a while before its first word.
_READ_SECONDS: Final = 60.0


class AnswerCapError(httpx2.TransportError):
    """An answer is over the cap on its size, or compressed against our wish.

    `status` is that of one whose head says so, else 0.
    """

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class AnswerCompressedError(AnswerCapError):
    """An answer is compressed: how much it becomes nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much one answer may bring, in bytes, and how long it may take, in seconds.

    Without `seconds`, the read timeout of a blocking call is for its answer as a whole.
    """

    max_bytes: int = MAX_OUTBOUND_BYTES
    seconds: float | None = MAX_OUTBOUND_SECONDS


def guarded_client(
    rules: OutboundRules, caps: Caps | None = None, *, tls: ssl.SSLContext | None = None
) -> httpx2.Client:
    """Return a client for blocking code; it is to be kept and shared.

    Its calls raise `httpx2.HTTPError`, and `InvalidRequestError` (`address_not_allowed`). `tls`
    replaces the usual authorities.
    """
    caps = caps or Caps()
    backend = GuardedBackend(rules, seconds=caps.seconds)
    return httpx2.Client(
        transport=GuardedTransport(backend, caps, tls=tls),
        headers=dict(_HEADERS),
        timeout=httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS),
        follow_redirects=False,
        trust_env=False,
        cookies=_no_cookies(),
    )


def guarded_async_client(
    rules: OutboundRules, caps: Caps | None = None, *, tls: ssl.SSLContext | None = None
) -> httpx2.AsyncClient:
    """Return a client for one event loop; as `guarded_client` otherwise."""
    return httpx2.AsyncClient(
        transport=AsyncGuardedTransport(AsyncGuardedBackend(rules), caps or Caps(), tls=tls),
        headers=dict(_HEADERS),
        timeout=httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS),
        follow_redirects=False,
        trust_env=False,
        cookies=_no_cookies(),
    )


class GuardedTransport(httpx2.HTTPTransport):
    """Sends requests to checked addresses and holds answers to the caps."""

    def __init__(
        self, backend: httpcore2.NetworkBackend, caps: Caps, *, tls: ssl.SSLContext | None = None
    ) -> None:
        tls = tls or httpx2.create_ssl_context(trust_env=False)
        super().__init__(verify=tls, trust_env=False)
        self._caps = caps
        # The only way to give a pool its network: the class makes one without asking.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls,
            max_connections=_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=backend,
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request."""
        deadline = _end_of(self._caps)
        response = super().handle_request(request)
        try:
            _check_head(response, self._caps)
        except AnswerCapError:
            response.close()
            raise
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _CappedStream(response.stream, self._caps.max_bytes, deadline)
        return response


class AsyncGuardedTransport(httpx2.AsyncHTTPTransport):
    """Sends requests to checked addresses and holds answers to the caps, without blocking."""

    def __init__(
        self,
        backend: httpcore2.AsyncNetworkBackend,
        caps: Caps,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        tls = tls or httpx2.create_ssl_context(trust_env=False)
        super().__init__(verify=tls, trust_env=False)
        self._caps = caps
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=backend,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request."""
        deadline = _end_of(self._caps)
        response = await super().handle_async_request(request)
        try:
            _check_head(response, self._caps)
        except AnswerCapError:
            await response.aclose()
            raise
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _AsyncCappedStream(response.stream, self._caps.max_bytes, deadline)
        return response


class _CappedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, max_bytes: int, deadline: float) -> None:
        self._stream = stream
        self._left = max_bytes
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            self._left = _count(part, self._left, self._deadline)
            yield part

    def close(self) -> None:
        self._stream.close()


class _AsyncCappedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int, deadline: float) -> None:
        self._stream = stream
        self._left = max_bytes
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left = _count(part, self._left, self._deadline)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _no_cookies() -> CookieJar:
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


def _end_of(caps: Caps) -> float:
    return math.inf if caps.seconds is None else time.monotonic() + caps.seconds


def _check_head(response: httpx2.Response, caps: Caps) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise AnswerCompressedError("the answer is compressed", status=response.status_code)
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > caps.max_bytes:
        raise AnswerCapError("the answer is too large", status=response.status_code)


def _count(part: bytes, left: int, deadline: float) -> int:
    """Return how many bytes may still come after `part`."""
    if len(part) > left:
        raise AnswerCapError("the answer is too large")
    if time.monotonic() > deadline:
        raise httpx2.ReadTimeout("the answer takes too long")
    return left - len(part)
