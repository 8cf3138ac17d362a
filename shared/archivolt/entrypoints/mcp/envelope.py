"""From a JSON-RPC message to a request of one era of MCP.

A message of the stateless protocol (2026-07-28) names its version in its body and headers; one of
the handshake protocols does not, and is read as if its handshake had just happened. Refuses to
know what the methods do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp.server.connection import Connection
from mcp.shared.dispatcher import as_request_id
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    HEADER_MISMATCH,
    INVALID_REQUEST,
    PROTOCOL_VERSION_META_KEY,
    RequestId,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from archivolt.entrypoints.mcp.wire import JsonObject, Post, RefusalError


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A well-formed JSON-RPC request and the era it belongs to."""

    id: RequestId
    method: str
    params: JsonObject | None
    connection: Connection
    modern: bool


def is_notification(message: Mapping[str, Any]) -> bool:
    """Tell whether nothing is to be answered (JSON-RPC 2.0 §4.1: no `id` member).

    Raises:
        RefusalError: -32600: it has no method either.

    """
    if "id" in message:
        return False
    if not isinstance(message.get("method"), str):
        raise RefusalError(INVALID_REQUEST, "The message has no method", status=400)
    return True


def is_response(message: Mapping[str, Any]) -> bool:
    """Tell whether a client answers something; nothing here ever waits for it."""
    return "method" not in message and ("result" in message or "error" in message)


def is_modern(message: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    """Tell whether the message belongs to the stateless protocol, by its body or its header."""
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return True
    return PROTOCOL_VERSION_META_KEY in _meta(message)


def read_request(message: JsonObject, post: Post) -> Request:
    """Return a message as a request.

    Raises:
        RefusalError: -32600, or what the stateless protocol's envelope breaks (-32020, -32602,
            -32022).

    """
    request_id = as_request_id(message["id"])
    method, params = message.get("method"), message.get("params")
    well_formed = isinstance(method, str) and (params is None or isinstance(params, dict))
    if request_id is None or not well_formed:
        raise RefusalError(
            INVALID_REQUEST, "The request is not valid", status=400, request_id=request_id
        )
    modern = is_modern(message, post.headers)
    return Request(
        id=request_id,
        method=cast("str", method),
        params=cast("JsonObject | None", params),
        connection=_stateless(message, post, request_id) if modern else _handshaken(post),
        modern=modern,
    )


def _meta(message: Mapping[str, Any]) -> JsonObject:
    params: object = message.get("params")
    meta = cast("JsonObject", params).get("_meta") if isinstance(params, dict) else None
    return cast("JsonObject", meta) if isinstance(meta, dict) else {}


def _handshaken(post: Post) -> Connection:
    version = post.headers.get(MCP_PROTOCOL_VERSION_HEADER, DEFAULT_NEGOTIATED_VERSION)
    return Connection.from_envelope(version, None, None)


def _stateless(message: JsonObject, post: Post, request_id: RequestId) -> Connection:
    if duplicate := find_duplicated_routing_header(post.header_lines):
        raise _rejected(HEADER_MISMATCH, f"{duplicate} appears more than once", None, request_id)
    route = classify_inbound_request(message, headers=post.headers)
    if isinstance(route, InboundLadderRejection):
        raise _rejected(route.code, route.message, route.data, request_id)
    return Connection.from_envelope(
        route.protocol_version, route.client_info, route.client_capabilities
    )


def _rejected(code: int, text: str, data: object, request_id: RequestId) -> RefusalError:
    status = ERROR_CODE_HTTP_STATUS[code]
    return RefusalError(code, text, status=status, data=data, request_id=request_id)
