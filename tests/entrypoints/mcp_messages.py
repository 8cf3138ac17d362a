"""What MCP clients of both eras send, as bodies and headers."""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

MODERN = "2026-07-28"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass
class Sent:
    """One POST: a JSON value (or raw text) and the headers MCP adds to it."""

    body: Any
    headers: dict[str, str] = field(default_factory=dict[str, str])


def legacy(
    method: str,
    params: Json | None = None,
    *,
    request_id: object = 1,
    version: str | None = "2025-06-18",
) -> Sent:
    """A request of a handshake protocol; `version` None leaves the header out."""
    body: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params is not None:
        body["params"] = params
    return Sent(body, {} if version is None else {"mcp-protocol-version": version})


def initialize(version: str = "2025-06-18") -> Sent:
    """The handshake's first request."""
    params: Json = {
        "protocolVersion": version,
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "tests", "version": "1"},
    }
    return legacy("initialize", params, version=None)


def modern(
    method: str, params: Json | None = None, *, request_id: object = 1, version: str = MODERN
) -> Sent:
    """A request of the stateless protocol."""
    meta: Json = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    }
    headers = {"mcp-protocol-version": version, "mcp-method": method}
    if method in _NAMED and params:
        headers["mcp-name"] = str(params.get(_NAMED[method]))
    body = {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": {**(params or {}), "_meta": meta},
    }
    return Sent(body, headers)


def notification(method: str, *, version: str | None = None) -> Sent:
    """A message without an answer."""
    headers = {} if version is None else {"mcp-protocol-version": version}
    return Sent({"jsonrpc": "2.0", "method": method}, headers)
