"""Opening connections to checked addresses only.

A name is resolved once; the addresses are checked and the connection is made to one of them, so
that a second answer of the resolver can change nothing. TLS and the `Host` header go on using the
name, which the layers above never lose.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from threading import BoundedSemaphore, Thread
from typing import Final

import anyio
from httpcore2 import (
    SOCKET_OPTION,
    AnyIOBackend,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ConnectError,
    ConnectTimeout,
    NetworkBackend,
    NetworkStream,
    SyncBackend,
)

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.timed import TimedStream
from archivolt.domain.limits import MAX_OUTBOUND_SECONDS

# How many addresses of a host are tried.
_TRIED: Final = 4
# Names that are being resolved at the same time: each has a thread, until the resolver gives up.
MAX_RESOLVING: Final = 128
_resolving = BoundedSemaphore(MAX_RESOLVING)

_Found = Sequence[tuple[int, int, int, str, tuple[str | int | bytes, ...]]]


def resolve(host: str, port: int) -> _Found:
    """Return the addresses of a host, as `socket.getaddrinfo` does."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


async def resolve_async(host: str, port: int) -> _Found:
    """Return the addresses of a host without blocking, nor in a thread that others wait for.

    Raises:
        TimeoutError: Too many names are being resolved.

    """
    return await asyncio.wrap_future(_begun(lambda: resolve(host, port)))


class GuardedBackend(NetworkBackend):
    """Connects where the rules allow.

    An answer, its head included, has `seconds` from the last word of its request (None: its read
    timeout): a server that says a little from time to time keeps nobody waiting. A name has the
    connect timeout to resolve, and its addresses have it together.
    """

    def __init__(
        self,
        rules: OutboundRules,
        *,
        resolve: Callable[[str, int], _Found] = resolve,
        seconds: float | None = MAX_OUTBOUND_SECONDS,
    ) -> None:
        self._rules = rules
        self._resolve = resolve
        self._seconds = seconds
        self._backend = SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        """Return a connection to a checked address of `host`.

        Raises:
            InvalidRequestError: `address_not_allowed`.

        """
        try:
            found = _in_time(lambda: self._resolve(host, port), timeout)
        except TimeoutError as error:
            raise ConnectTimeout("the host name does not resolve in time") from error
        except (OSError, UnicodeError) as error:
            raise ConnectError("the host name does not resolve") from error
        failure: Exception = ConnectError("the host has no address")
        addresses = _checked(self._rules, host, port, found)
        for address in addresses:
            share = timeout and timeout / len(addresses)
            try:
                stream = self._backend.connect_tcp(
                    address, port, share, local_address, socket_options or []
                )
            except (ConnectError, ConnectTimeout) as error:
                failure = error
            else:
                return TimedStream(stream, self._seconds)
        raise failure


class AsyncGuardedBackend(AsyncNetworkBackend):
    """Connects where the rules allow, without blocking."""

    def __init__(
        self,
        rules: OutboundRules,
        *,
        resolve: Callable[[str, int], Awaitable[_Found]] = resolve_async,
    ) -> None:
        self._rules = rules
        self._resolve = resolve
        self._backend = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the backend's protocol
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Return a connection to a checked address of `host`.

        Raises:
            InvalidRequestError: `address_not_allowed`.

        """
        try:
            with anyio.fail_after(timeout):
                found = await self._resolve(host, port)
        except TimeoutError as error:
            raise ConnectTimeout("the host name does not resolve in time") from error
        except (OSError, UnicodeError) as error:
            raise ConnectError("the host name does not resolve") from error
        failure: Exception = ConnectError("the host has no address")
        for address in _checked(self._rules, host, port, found):
            try:
                return await self._backend.connect_tcp(
                    address, port, timeout, local_address, socket_options or []
                )
            except (ConnectError, ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)


def _in_time(work: Callable[[], _Found], seconds: float | None) -> _Found:
    """Return what `work` comes to, in time: what the system's resolver does ends when it does."""
    return _begun(work).result(seconds)


def _begun(work: Callable[[], _Found]) -> Future[_Found]:
    """Begin to resolve a name in a thread of its own; a pool's would be taken by those that hang.

    Raises:
        TimeoutError: Too many names are being resolved.

    """
    done: Future[_Found] = Future()
    done.set_running_or_notify_cancel()  # it ends even where nobody waits any more

    def do() -> None:
        try:
            try:
                found = work()
            finally:
                _resolving.release()
            done.set_result(found)
        except Exception as error:  # noqa: BLE001  the caller's to judge
            done.set_exception(error)

    if not _resolving.acquire(blocking=False):
        raise TimeoutError
    try:
        Thread(target=do, name="resolving", daemon=True).start()
    except RuntimeError as error:  # the system has no thread left
        _resolving.release()
        raise TimeoutError from error
    return done


def _checked(rules: OutboundRules, host: str, port: int, found: _Found) -> list[str]:
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    rules.check(host, port, addresses)
    return addresses[:_TRIED]
