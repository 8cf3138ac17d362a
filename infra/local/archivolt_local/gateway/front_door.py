"""The address people use: an ASGI app that does what the deployed REST API does.

Routes, the authorizer and the gateway's answers are the template's. Limits: 10 MB for a request
(API Gateway quotas), 6 MB for what a function takes or gives (Lambda quotas).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from archivolt.ports.clock import Clock
from archivolt_local.gateway.api import ApiDefinition, RouteMatch
from archivolt_local.gateway.authorizer import RefusedError, RequestAuthorizer
from archivolt_local.gateway.proxy_event import IncomingRequest, proxy_event, request_context
from archivolt_local.gateway.responses import (
    ClientResponse,
    GatewayResponses,
    function_response,
)
from archivolt_local.gateway.streaming import AppDownError, Receive, Send, StreamingProxy
from archivolt_local.runtime.pool import FunctionPool
from archivolt_local.runtime.worker import MAX_PAYLOAD

MAX_REQUEST = 10 * 1024 * 1024

Pools = Callable[[str], FunctionPool]
Apps = Callable[[str], StreamingProxy]


class _TooLargeError(Exception):
    """The body is over the limit."""


class _GoneError(Exception):
    """The client went away before its request was whole."""


class FrontDoor:
    """Answers every request; `pools` and `apps` give what runs behind a function's name."""

    def __init__(self, api: ApiDefinition, pools: Pools, apps: Apps, clock: Clock) -> None:
        self._api = api
        self._pools = pools
        self._apps = apps
        self._clock = clock
        self._responses = GatewayResponses(api.gateway_responses)
        self._authorizer = RequestAuthorizer(api.authorizer, pools(api.authorizer.function), clock)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one ASGI scope."""
        if scope["type"] != "http":
            return
        request = _incoming(scope)
        # Two lengths for one body: whoever stands in front may read it otherwise (RFC 9112 §6.1).
        if request.header("content-length") and request.header("transfer-encoding"):
            await _send(send, self._responses.answer("BAD_REQUEST"), last=True)
            return
        match = self._api.match(request.method, request.raw_path)
        if match is None:
            await _send(send, self._responses.answer("MISSING_AUTHENTICATION_TOKEN"))
            return
        try:
            caller = await self._caller(request, match)
            body = await _read(request, receive)
        except _GoneError:
            return
        except RefusedError as refusal:
            await _send(send, self._responses.answer(refusal.kind))
        except _TooLargeError:
            await _send(send, self._responses.answer("REQUEST_TOO_LARGE"))
        else:
            await self._serve(request, match, body, caller, receive, send)

    async def _caller(self, request: IncomingRequest, match: RouteMatch) -> Mapping[str, str]:
        if not match.route.authorized:
            return {}
        return await self._authorizer.authorize(request, match)

    async def _serve(
        self,
        request: IncomingRequest,
        match: RouteMatch,
        body: bytes,
        caller: Mapping[str, str],
        receive: Receive,
        send: Send,
    ) -> None:
        if not match.route.streaming:
            await _send(send, await self._invoke(request, match, body, caller))
            return
        context = {**request_context(request, match, self._clock), "authorizer": dict(caller)}
        app = self._apps(match.route.function)
        try:
            await app.pass_on(request, body, context, match.route.timeout, receive, send)
        except AppDownError:
            await _send(send, self._responses.answer("INTEGRATION_FAILURE"))

    async def _invoke(
        self, request: IncomingRequest, match: RouteMatch, body: bytes, caller: Mapping[str, str]
    ) -> ClientResponse:
        event = json.dumps(proxy_event(request, match, body, caller, self._clock)).encode()
        if len(event) > MAX_PAYLOAD:
            return self._responses.answer("REQUEST_TOO_LARGE")
        return function_response(
            await self._pools(match.route.function).invoke(event), self._responses
        )


def _incoming(scope: Mapping[str, Any]) -> IncomingRequest:
    client: tuple[str, int] | None = scope.get("client")
    return IncomingRequest(
        method=scope["method"],
        raw_path=scope["raw_path"].decode("latin-1"),
        query=scope["query_string"].decode("latin-1"),
        headers=[(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]],
        client=client[0] if client else "127.0.0.1",
        scheme=scope.get("scheme", "http"),
    )


async def _read(request: IncomingRequest, receive: Receive) -> bytes:
    announced = request.header("content-length")
    if announced.isdigit() and int(announced) > MAX_REQUEST:
        raise _TooLargeError
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > MAX_REQUEST:
            raise _TooLargeError
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


async def _send(send: Send, response: ClientResponse, *, last: bool = False) -> None:
    """Give an answer; `last` ends the connection with it."""
    headers = [
        (k.encode("latin-1", "replace"), v.encode("latin-1", "replace"))
        for k, v in response.headers
    ]
    headers.append((b"content-length", str(len(response.body)).encode()))
    if last:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})
