"""As much of HTTP/1.1 as two clients on this machine need: a runtime client and an AWS SDK."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from archivolt_local.addresses import LOOPBACK

_MAX_BODY = 32_000_000
_HEAD_LIMIT = 65_536


@dataclass(frozen=True)
class HttpRequest:
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class HttpResponse:
    """One answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] | None = None


Answer = Callable[[HttpRequest], Awaitable[HttpResponse]]


async def serve_loopback(answer: Answer) -> asyncio.Server:
    """Serve on a free port of the loopback, one request after the other on each connection."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read(reader, writer)) is not None:
                await _write(writer, await answer(request))
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(connection, LOOPBACK, 0, limit=_HEAD_LIMIT)


def port_of(server: asyncio.Server) -> int:
    """Return the port a server listens on."""
    return int(server.sockets[0].getsockname()[1])


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> HttpRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    return HttpRequest(method, path, headers, await _body(reader, headers))


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        length = int(headers.get("content-length") or 0)
        if length > _MAX_BODY:
            raise ValueError("body too large")
        return await reader.readexactly(length)
    chunks: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        chunks.append(await reader.readexactly(size))
        await reader.readexactly(2)
        if sum(map(len, chunks)) > _MAX_BODY:
            raise ValueError("body too large")
    await reader.readuntil(b"\r\n")
    return b"".join(chunks)


async def _write(writer: asyncio.StreamWriter, response: HttpResponse) -> None:
    headers = {"Content-Length": str(len(response.body)), **(response.headers or {})}
    lines = [
        f"HTTP/1.1 {response.status} OK",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + response.body)
    await writer.drain()
