"""One request to an ASGI application by a client that reads as it likes and may hang up."""

import asyncio
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from starlette.types import ASGIApp, Message


class AsgiCall:
    """A POST in progress; within `async with`, pieces of its body can be awaited one by one."""

    def __init__(
        self,
        app: ASGIApp,
        path: str,
        body: object,
        headers: Mapping[str, str],
        *,
        spec_version: str = "2.4",
    ) -> None:
        self.status = 0
        self._app = app
        self._body = json.dumps(body).encode()
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": spec_version},
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [
                (b"content-type", b"application/json"),
                *((name.lower().encode(), text.encode()) for name, text in headers.items()),
            ],
        }
        self._sent = False
        self._gone = asyncio.Event()
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()

    async def __aenter__(self) -> "AsgiCall":
        self._task = asyncio.ensure_future(self._app(self._scope, self._receive, self._send))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.hang_up()
        await self._task

    async def piece(self) -> bytes:
        """Return the next piece of the body."""
        async with asyncio.timeout(10):
            return await self._pieces.get()

    async def until(self, text: bytes) -> bytes:
        """Return the body up to the piece that holds `text`."""
        read = b""
        while text not in read:
            read += await self.piece()
        return read

    def hang_up(self) -> None:
        """Drop the connection."""
        self._gone.set()

    async def _receive(self) -> Message:
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif self._gone.is_set():
            raise OSError("the client is gone")
        else:
            await self._pieces.put(message.get("body", b""))
