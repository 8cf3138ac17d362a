"""Invokes functions for the state machines of the emulator, as Lambda's own API would."""

import hmac
import secrets
from typing import TYPE_CHECKING

from archivolt_local.addresses import LOOPBACK
from archivolt_local.loopback_http import HttpRequest, HttpResponse, port_of, serve_loopback
from archivolt_local.runtime.pool import Pools

if TYPE_CHECKING:
    import asyncio

FAILED = "X-Function-Error"
"""The header that says that an answer is a function's error."""


class InvocationHost:
    """Answers on the loopback who knows its address: the address holds a secret."""

    def __init__(self) -> None:
        self._token = secrets.token_urlsafe(24)
        self._server: asyncio.Server | None = None
        self._pools: Pools | None = None

    async def start(self) -> str:
        """Listen, and return the address before the names of functions."""
        self._server = await serve_loopback(self._answer)
        return f"http://{LOOPBACK}:{port_of(self._server)}/{self._token}"

    def serve(self, pools: Pools) -> None:
        """Have the functions that can be called from now on."""
        self._pools = pools

    def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        _, token, name = [*request.path.split("/", 2), "", ""][:3]
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return HttpResponse(403)
        if self._pools is None:
            return HttpResponse(503)
        try:
            pool = self._pools(name)
        except KeyError:
            return HttpResponse(404)
        outcome = await pool.invoke(request.body)
        return HttpResponse(200, outcome.payload, {FAILED: "Unhandled"} if outcome.failed else None)
