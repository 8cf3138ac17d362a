"""Passes requests on to a web app and its answers back as they come, as the Web Adapter does.

Nothing is buffered; when the client goes away the app sees its request end.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2

from archivolt_local.gateway.proxy_event import IncomingRequest, forwarded_headers
from archivolt_local.gateway.responses import remapped

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
     "upgrade", "content-length", "expect"}
)  # fmt: skip
_CONNECT_SECONDS = 5.0


class AppDownError(Exception):
    """The app gave no answer at all."""


class StreamingProxy:
    """A client of one web app on the loopback."""

    def __init__(self, base_url: str) -> None:
        self._client = httpx2.AsyncClient(base_url=base_url, trust_env=False, timeout=None)

    async def pass_on(
        self,
        request: IncomingRequest,
        body: bytes,
        context: Mapping[str, Any],
        seconds: float,
        receive: Receive,
        send: Send,
    ) -> None:
        """Send the request and relay the answer.

        Raises:
            AppDownError: Nothing came back, nothing was sent to the client.

        """
        upstream = self._client.build_request(
            request.method,
            f"{request.raw_path}?{request.query}" if request.query else request.raw_path,
            headers=_headers(request, context),
            content=body,
            timeout=httpx2.Timeout(seconds, connect=_CONNECT_SECONDS),
        )
        relay = asyncio.ensure_future(self._relay(upstream, send))
        gone = asyncio.ensure_future(_disconnected(receive))
        await asyncio.wait({relay, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if relay.done():
            relay.result()
            return
        relay.cancel()
        await asyncio.gather(relay, return_exceptions=True)

    async def _relay(self, upstream: httpx2.Request, send: Send) -> None:
        try:
            answer = await self._client.send(upstream, stream=True)
        except httpx2.TransportError as error:
            raise AppDownError from error
        try:
            await send(_start(answer))
            async for chunk in answer.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except httpx2.TransportError:
            # The status is long gone: an incomplete answer is all that can be told.
            return
        finally:
            await answer.aclose()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _headers(request: IncomingRequest, context: Mapping[str, Any]) -> list[tuple[bytes, bytes]]:
    """Return the headers to pass on, byte for byte: a client's need not be ASCII."""
    kept = [
        (name, value)
        for name, value in forwarded_headers(request)
        if name.lower() not in _HOP_BY_HOP
    ]
    pairs = [*kept, ("x-amzn-request-context", json.dumps(context))]
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs]


def _start(answer: httpx2.Response) -> Mapping[str, Any]:
    pairs = [
        remapped(name.decode("latin-1"), value.decode("latin-1"))
        for name, value in answer.headers.raw
        if name.lower()
        not in {b"transfer-encoding", b"connection", b"content-length", b"date", b"server"}
    ]
    return {
        "type": "http.response.start",
        "status": answer.status_code,
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs],
    }


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
