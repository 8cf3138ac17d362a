"""The one OpenAPI document of the product: tools, chat and MCP together.

Each application knows its own routes; this file joins what they say of themselves.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NoReturn

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse

Document = dict[str, Any]

_DESCRIPTION: Final = (
    "A private AI workspace over a team's documents. Send `Authorization: Bearer <token>`, or a"
    " personal access token by HTTP Basic; errors come as `{error: {code, message, details}}`, in"
    " the language of `Accept-Language` (English or French)."
)
_JSON_RPC: Final[Document] = {
    "type": "object",
    "required": ["jsonrpc", "method"],
    "properties": {
        "jsonrpc": {"const": "2.0", "type": "string"},
        "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "method": {"type": "string"},
        "params": {"type": "object"},
    },
}
MCP_PATHS: Final[Document] = {
    "/mcp": {
        "post": {
            "tags": ["mcp"],
            "summary": "Speak the Model Context Protocol",
            "description": "Streamable HTTP without sessions: one JSON-RPC message per request,"
            " protocol versions 2024-11-05 to 2026-07-28. Tools, resources `vault://…`.",
            "operationId": "mcp",
            "security": [{"BearerToken": []}, {"PersonalToken": []}],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": _JSON_RPC}},
            },
            "responses": {
                "200": {"description": "The answer.", "content": {"application/json": {}}},
                "202": {"description": "A notification was taken."},
                "401": {"description": "No valid token; `WWW-Authenticate` says where to get one."},
            },
        }
    },
    "/.well-known/oauth-protected-resource/mcp": {
        "get": {
            "tags": ["mcp"],
            "summary": "Tell where to get a token for MCP (RFC 9728)",
            "operationId": "mcp_resource_metadata",
            "responses": {
                "200": {"description": "The metadata.", "content": {"application/json": {}}}
            },
        }
    },
}


def product_openapi(tools: FastAPI) -> Document:
    """Return the document of the whole product, given the application of the tools function."""
    # Chat is another function's: its routes are loaded only where they are described.
    from archivolt.entrypoints.http.chat_app import create_chat_app  # noqa: PLC0415

    return merged([tools.openapi(), create_chat_app(_no_services).openapi(), {"paths": MCP_PATHS}])


def _no_services() -> NoReturn:
    raise LookupError("a description of routes needs no services")


def merged(documents: Sequence[Mapping[str, Any]]) -> Document:
    """Return one document with the paths and components of all; paths are in order of name.

    Raises:
        ValueError: Two documents describe one thing in two ways.

    """
    whole: Document = {**documents[0], "paths": {}, "components": {}}
    whole["info"] = {**documents[0]["info"], "description": _DESCRIPTION}
    for document in documents:
        for path, item in document.get("paths", {}).items():
            _join(whole["paths"].setdefault(path, {}), item, path)
        for kind, components in document.get("components", {}).items():
            _join(whole["components"].setdefault(kind, {}), components, kind)
    whole["paths"] = dict(sorted(whole["paths"].items()))
    return whole


def _join(into: Document, other: Mapping[str, Any], where: str) -> None:
    for name, value in other.items():
        if into.setdefault(name, value) != value:
            raise ValueError(f"two descriptions of {where} {name}")


def openapi_router(tools: FastAPI) -> APIRouter:
    """Return the route that serves the document."""
    router = APIRouter(tags=["health"])
    document = cache(lambda: product_openapi(tools))

    @router.get("/openapi.json", summary="Describe this API", operation_id="openapi")
    def openapi() -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return JSONResponse(document())

    return router
