"""MCP's web address: routes, origins, tokens, sizes, and where to get a token (RFC 9728).

Refuses to know JSON-RPC and what the tools do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from mangum import Mangum
from mcp.server import Server
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.domain.errors import (
    ForbiddenError,
    NotFoundError,
    UnsupportedContentError,
)
from archivolt.entrypoints.credentials import principal_of
from archivolt.entrypoints.http.application import create_application, origins
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.mcp.caller import Caller
from archivolt.entrypoints.mcp.edge import Edge
from archivolt.entrypoints.mcp.origin import OriginRule
from archivolt.entrypoints.mcp.server import CONSTANT_METHODS, create_server
from archivolt.entrypoints.mcp.wire import Post
from archivolt.ports.governance import TokenVerifier
from archivolt.tools.pipeline import ToolPipeline

_WELL_KNOWN: Final = "/.well-known"
_METADATA: Final = "/oauth-protected-resource"
_METHODS: Final = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServices:
    """What the endpoint stands on.

    `state_key` gives a secret that every process shares: it seals what clients carry between two
    rounds of a call. `public_url` is the product's address without a final slash, `issuer` the
    identity provider's; `allowed_origins` are separated by commas or spaces. Each may be empty.
    """

    token_verifier: TokenVerifier
    pipeline: ToolPipeline
    state_key: Callable[[], bytes]
    public_url: str = ""
    allowed_origins: str = ""
    issuer: str = ""


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
        public = str(scope.get("path", "")).startswith(f"{_WELL_KNOWN}/")
        await (metadata if public else endpoint)(scope, receive, send)

    return app


def _endpoint(services: McpServices, server: Server[Any]) -> ASGIApp:
    door = _Door(services, server)
    metadata_url = f"{services.public_url}{_WELL_KNOWN}{_METADATA}/mcp"
    app = create_application(
        "Archivolt MCP",
        token_verifier=lambda: services.token_verifier,
        allowed_origins=services.allowed_origins,
        resource_metadata=metadata_url if services.public_url else "",
    )
    for path in ("/mcp", "/mcp/"):
        app.add_route(path, door.answer, methods=_METHODS)
    return app


def _metadata(services: McpServices) -> ASGIApp:
    app = create_application(
        "Archivolt protected resource metadata",
        token_verifier=lambda: services.token_verifier,
        allowed_origins="*",
    )
    document = protected_resource(services.public_url, services.issuer)

    async def answer(_: Request) -> Response:
        if not services.public_url:
            raise NotFoundError("not_found")
        headers = {"Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*"}
        return JSONResponse(document, headers=headers)

    for path in (f"{_WELL_KNOWN}{_METADATA}/mcp", f"{_WELL_KNOWN}{_METADATA}"):
        app.add_route(path, answer, methods=["GET"])
    return app


def protected_resource(public_url: str, issuer: str) -> dict[str, Any]:
    """Return the protected-resource metadata (RFC 9728 §2).

    An issuer that is no web address (the local stack's) is not announced: no client could ask it.
    """
    document: dict[str, Any] = {
        "resource": f"{public_url}/mcp",
        "resource_name": "Archivolt",
        "bearer_methods_supported": ["header"],
    }
    if issuer.startswith("https://"):
        document["authorization_servers"] = [issuer]
    return document


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
        reply = await self._edge.answer(
            Post(
                headers=headers,
                header_lines=lines,
                body=await request.body(),
                caller=Caller(principal=principal, language=language_for(request)),
            )
        )
        return Response(reply.body, reply.status, reply.headers, reply.content_type)


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()
