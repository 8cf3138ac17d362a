"""A web app's answer reaches the client piece by piece; the app learns when the client leaves."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from archivolt_local.addresses import LOOPBACK
from archivolt_local.gateway.proxy_event import IncomingRequest
from archivolt_local.gateway.streaming import AppDownError, StreamingProxy

pytestmark = pytest.mark.anyio

REQUEST = IncomingRequest(
    method="POST",
    raw_path="/api/v1/chat/a%2Fb",
    query="x=1",
    headers=[
        ("host", "archivolt.example"),
        ("connection", "keep-alive"),
        ("accept", "*/*"),
        ("x-note", "caf\xe9"),
    ],
    client="127.0.0.1",
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class SlowApp:
    """Sends one piece, then waits for `more` before it sends the other."""

    def __init__(self) -> None:
        self.request = b""
        self.more = asyncio.Event()
        self.left = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.request = await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(4)
        writer.write(HEAD + b"5\r\nfirst\r\n")
        await writer.drain()
        ended = asyncio.ensure_future(reader.read())
        more = asyncio.ensure_future(self.more.wait())
        await asyncio.wait({ended, more}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            self.left.set()
        else:
            writer.write(b"6\r\nsecond\r\n0\r\n\r\n")
            await writer.drain()
        for task in (ended, more):
            task.cancel()
        writer.close()


class Client:
    """The ASGI side: keeps what it is sent; `gone` is its leaving."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.gone = asyncio.Event()

    async def receive(self) -> Mapping[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        await self.messages.put(message)


@pytest.fixture
async def app() -> SlowApp:
    return SlowApp()


@pytest.fixture
async def proxy(app: SlowApp) -> AsyncIterator[StreamingProxy]:
    server = await asyncio.start_server(app.serve, LOOPBACK, 0)
    made = StreamingProxy(f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}")
    yield made
    await made.close()
    server.close()


def passing(proxy: StreamingProxy, client: Client) -> "asyncio.Task[None]":
    return asyncio.ensure_future(
        proxy.pass_on(REQUEST, b"body", {"stage": "live"}, 30, client.receive, client.send)
    )


async def test_each_piece_comes_before_the_next_is_made(
    app: SlowApp, proxy: StreamingProxy
) -> None:
    client = Client()
    serving = passing(proxy, client)
    start = await client.messages.get()
    assert start["status"] == 200
    assert (b"Content-Type", b"text/event-stream") in start["headers"]
    assert (await client.messages.get())["body"] == b"first"
    app.more.set()
    assert (await client.messages.get())["body"] == b"second"
    assert (await client.messages.get())["more_body"] is False
    await serving


async def test_the_app_gets_the_request_as_the_adapter_gives_it(
    app: SlowApp, proxy: StreamingProxy
) -> None:
    client = Client()
    app.more.set()
    await passing(proxy, client)
    first, *headers = app.request.split(b"\r\n")
    assert first == b"POST /api/v1/chat/a%2Fb?x=1 HTTP/1.1"
    names = [header.split(b":")[0].lower() for header in headers]
    assert b"x-amzn-request-context" in names
    assert b"x-note: caf\xe9" in [header.lower() for header in headers]
    assert b'x-amzn-request-context: {"stage": "live"}' in [header.lower() for header in headers]
    assert app.request.endswith(b"body")


async def test_the_app_learns_that_the_client_is_gone(app: SlowApp, proxy: StreamingProxy) -> None:
    client = Client()
    serving = passing(proxy, client)
    await client.messages.get()
    await client.messages.get()
    client.gone.set()
    await serving
    async with asyncio.timeout(10):
        await app.left.wait()


async def test_an_app_that_does_not_answer_is_told_apart() -> None:
    proxy = StreamingProxy(f"http://{LOOPBACK}:1")
    client = Client()
    with pytest.raises(AppDownError):
        await passing(proxy, client)
    assert client.messages.empty()
    await proxy.close()
