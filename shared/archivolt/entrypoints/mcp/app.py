"""MCP's web address: routes, origins, tokens, sizes, and where to get a token (RFC 9728).

Refuses to know JSON-RPC and what the tools do.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from mangum import Mangum
from mcp.server import Server
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.domain.errors import (
    ForbiddenError,
    UnsupportedContentError,
)
from archivolt.entrypoints.credentials import principal_of
from archivolt.entrypoints.http.application import origins, put_in_frame
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.mcp.caller import Caller
from archivolt.entrypoints.mcp.edge import Edge
from archivolt.entrypoints.mcp.metadata import RESOURCE_PATH, WELL_KNOWN, Document, documents
from archivolt.entrypoints.mcp.origin import OriginRule
from archivolt.entrypoints.mcp.server import CONSTANT_METHODS, create_server
from archivolt.entrypoints.mcp.wire import Post
from archivolt.ports.governance import TokenVerifier
from archivolt.tools.pipeline import ToolPipeline

_METHODS: Final = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServices:
    """What the endpoint stands on.

    `state_key` gives a secret that every process shares: it seals what clients carry between two
    rounds of a call. `public_url` is the product's address without a final slash, `issuer` the
    identity provider's; `allowed_origins` are separated by commas or spaces. Each may be empty.
    `signs_in`: whether our own authorization server gives tokens.
    """

    token_verifier: TokenVerifier
    pipeline: ToolPipeline
    state_key: Callable[[], bytes]
    public_url: str = ""
    allowed_origins: str = ""
    issuer: str = ""
    signs_in: bool = False

    @property
    def resource_metadata(self) -> str:
        """Where a client learns who gives tokens, "" for nowhere."""
        return f"{self.public_url}{RESOURCE_PATH}" if self.public_url else ""


def create_handler(services: Callable[[], McpServices]) -> Mangum:
    """Return the Lambda handler; nothing is built before the first event."""
    application = cache(lambda: create_app(services()))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await application()(scope, receive, send)

    return Mangum(app, lifespan="off")


def create_app(services: McpServices, server: Server[Any] | None = None) -> ASGIApp:
    """Return `POST /mcp` and the metadata that a client without a token looks for.

    `server` answers in place of the product's own.
    """
    endpoint = _endpoint(services, server or create_server(services.pipeline, services.state_key))
    metadata = _metadata(services)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        public = str(scope.get("path", "")).startswith(f"{WELL_KNOWN}/")
        await (metadata if public else endpoint)(scope, receive, send)

    return app


def _endpoint(services: McpServices, server: Server[Any]) -> ASGIApp:
    door = _Door(services, server)
    app = Starlette()
    app.router.redirect_slashes = False
    put_in_frame(
        app,
        allowed_origins=services.allowed_origins,
        resource_metadata=services.resource_metadata,
    )
    for path in ("/mcp", "/mcp/"):
        app.add_route(path, door.answer, methods=_METHODS)
    return app


def _metadata(services: McpServices) -> ASGIApp:
    app = Starlette()
    put_in_frame(app, allowed_origins="*")
    found = documents(services.public_url, services.issuer, signs_in=services.signs_in)
    for path, document in found:
        app.add_route(path, _publishing(document), methods=["GET"])
    return app


def _publishing(document: Document) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        headers = {"Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*"}
        return JSONResponse(document, headers=headers)

    return answer


class _Door:
    """Lets a POST of a known caller through to the edge."""

    def __init__(self, services: McpServices, server: Server[Any]) -> None:
        self._verifier = services.token_verifier
        self._origins = OriginRule(services.public_url, origins(services.allowed_origins))
        self._edge = Edge(server, constant=CONSTANT_METHODS)

    async def answer(self, request: Request) -> Response:
        """Return the answer to any request at the endpoint."""
        lines = request.headers.items()
        headers = dict(reversed(lines))  # of a header sent twice, the first
        if not self._origins.accepts(headers.get("origin")):
            raise ForbiddenError("origin_not_allowed")
        principal = principal_of(headers.get("authorization", ""), self._verifier)
        if request.method != "POST":
            raise HTTPException(405, headers={"Allow": "POST"})
        if _media_type(headers) != "application/json":
            raise UnsupportedContentError("content_type_not_json")
        caller = Caller(principal=principal, language=language_for(request))
        reply = await self._edge.answer(
            Post(headers=headers, header_lines=lines, body=await request.body(), caller=caller)
        )
        response = Response(reply.body, reply.status, reply.headers, reply.content_type)
        if caller.to_wait:
            # The status stays MCP's: with 429 clients show their models no word of the answer.
            response.headers["Retry-After"] = str(caller.to_wait)
        return response


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()
