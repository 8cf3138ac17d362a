"""A proxy on the loopback through which a program reaches checked addresses only (decision 25).

For programs of others that read the web with no guard of their own. It knows `CONNECT` and plain
requests, one on a connection.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import httpcore2

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.backends import AsyncGuardedBackend
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.federation_limits import (
    MAX_PROXIED_BYTES,
    MAX_PROXIED_SECONDS,
)

_LOOPBACK: Final = "127.0.0.1"
_MAX_HEAD_BYTES: Final = 65_536
_PIECE: Final = 65_536
_CONNECT_SECONDS: Final = 5.0
_HEAD_PARTS: Final = 3
_HTTPS_PORT: Final = 443
_HTTP_PORT: Final = 80
_REFUSED: Final = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_UNREACHABLE: Final = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_TAKEN: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"


@asynccontextmanager
async def loopback_proxy(rules: OutboundRules) -> AsyncGenerator[str]:
    """Give the address of a proxy that listens until the end of the block."""
    proxy = _Proxy(rules)
    server = await asyncio.start_server(proxy.serve, _LOOPBACK, 0, limit=_MAX_HEAD_BYTES)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://{_LOOPBACK}:{port}"
    finally:
        server.close()
        await proxy.end()


class _Proxy:
    def __init__(self, rules: OutboundRules) -> None:
        self._backend = AsyncGuardedBackend(rules)
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end."""
        task = asyncio.current_task()
        assert task is not None, "a connection is served by a task"  # noqa: S101  asyncio promises it
        self._open.add(task)
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                async with asyncio.timeout(MAX_PROXIED_SECONDS):
                    await self._serve(reader, writer)
        except asyncio.CancelledError:
            pass  # the proxy ends
        finally:
            self._open.discard(task)
            writer.close()

    async def end(self) -> None:
        """End what is still open."""
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            host, port, onward = _destination(head)
            far = await self._backend.connect_tcp(host, port, _CONNECT_SECONDS)
        except (InvalidRequestError, ValueError, asyncio.LimitOverrunError):
            writer.write(_REFUSED)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
            writer.write(_UNREACHABLE)
        else:
            await _join(reader, writer, far, onward)
        await writer.drain()


def _destination(head: bytes) -> tuple[str, int, bytes]:
    """Return where a request goes, and what is to be said there first; b"" for a tunnel.

    Raises:
        ValueError: It is no request of a proxy.

    """
    first, _, rest = head.partition(b"\r\n")
    parts = first.decode("ascii").split(" ")
    if len(parts) != _HEAD_PARTS:
        raise ValueError(parts)
    method, address, version = parts
    if method == "CONNECT":
        named = urlsplit(f"//{address}")
        return _host(named.hostname), named.port or _HTTPS_PORT, b""
    named = urlsplit(address)
    if named.scheme != "http" or named.username is not None:
        raise ValueError(named.scheme)
    path = urlunsplit(("", "", named.path or "/", named.query, ""))
    kept = [line for line in rest.split(b"\r\n") if line and not _is_of_the_hop(line)]
    lines = [f"{method} {path} {version}".encode("ascii"), *kept, b"Connection: close", b"", b""]
    return _host(named.hostname), named.port or _HTTP_PORT, b"\r\n".join(lines)


def _host(host: str | None) -> str:
    if not host:
        raise ValueError("no host")
    return host


def _is_of_the_hop(line: bytes) -> bool:
    name = line.partition(b":")[0].strip().lower()
    return name in {b"connection", b"keep-alive"} or name.startswith(b"proxy-")


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    far: httpcore2.AsyncNetworkStream,
    onward: bytes,
) -> None:
    """Carry bytes both ways until one side ends, or has brought too much."""

    async def out() -> None:
        while piece := await reader.read(_PIECE):
            await far.write(piece)

    async def back() -> None:
        left = MAX_PROXIED_BYTES
        while left > 0 and (piece := await far.read(_PIECE)):
            left -= len(piece)
            writer.write(piece)
            await writer.drain()

    try:
        if onward:
            await far.write(onward)
        else:
            writer.write(_TAKEN)
        tasks = [asyncio.create_task(out()), asyncio.create_task(back())]
        try:
            # A program that has said all may still wait for the answer.
            await tasks[1]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    except (httpcore2.NetworkError, httpcore2.TimeoutException):
        return
    finally:
        await far.aclose()
