"""Anything that may be sent to the MCP endpoint, and what an answer to it may be."""

import json
import re
from typing import Any, cast

from hypothesis import strategies as st

from tests.entrypoints.mcp_messages import MODERN, Sent
from tests.entrypoints.test_mcp_tools import READ_TOOLS

ACCEPTED = {200, 202, 400, 403, 404, 405, 413, 415}
WORKINGS = re.compile(
    rb"Traceback|File \\?\"|\.py\b|pydantic|validation error|site-packages|NoneType|object at 0x",
    re.IGNORECASE,
)
TOOLS = [
    *READ_TOOLS,
    "propose_create_file",
    "propose_edit_file",
    "propose_append_to_file",
    "propose_replace_in_files",
    "propose_delete_directory",
    "propose_restore_backup",
    "propose_move_path",
    "apply_edit_file",
    "apply_append_to_file",
    "apply_delete_file",
    "nope",
]
METHODS = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "resources/subscribe",
    "subscriptions/listen",
    "notifications/cancelled",
]
HEADERS = [
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "accept",
    "accept-language",
    "content-type",
    "content-length",
    "origin",
]
NOTHING: dict[str, object] = {}
META = "io.modelcontextprotocol/"

text = st.text(max_size=30)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | text
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from(["vault", "path", "dir", "q", "limit", "offset", "after", "top_k", "mode"])
values = st.sampled_from(["notes", "garden.md", "../x", "", "5", "vault://notes"]) | anything
arguments = st.dictionaries(names | text, values, max_size=5) | anything
uris = st.sampled_from(["vault://notes", "vault://notes/garden.md"]) | st.builds(
    "vault://{}".format, text
)
metas = st.fixed_dictionaries(
    {},
    optional={
        META + "protocolVersion": st.sampled_from([MODERN, "2025-06-18"]) | anything,
        META + "clientCapabilities": st.just(NOTHING) | anything,
        META + "clientInfo": st.just({"name": "n", "version": "1"}) | anything,
        "progressToken": scalars,
    },
)
params = (
    st.fixed_dictionaries(
        {},
        optional={
            "_meta": metas | anything,
            "name": st.sampled_from(TOOLS) | anything,
            "arguments": arguments,
            "uri": uris | anything,
            "cursor": anything,
            "protocolVersion": text,
            "capabilities": st.just(NOTHING) | anything,
            "clientInfo": st.just({"name": "n", "version": "1"}) | anything,
            "ref": st.just({"type": "ref/prompt", "name": "find-related"}) | anything,
            "argument": st.just({"name": "path", "value": "ga"}) | anything,
            "context": st.just({"arguments": {"vault": "notes"}}) | anything,
        },
    )
    | anything
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0"]) | anything,
        "id": st.integers() | text | anything,
        "method": st.sampled_from(METHODS) | anything,
        "params": params,
        "result": anything,
    },
)
header_values = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
headers = st.dictionaries(
    st.sampled_from(HEADERS),
    st.sampled_from([MODERN, "2025-06-18", "tools/call", "tools/list", "read_file"])
    | header_values,
    max_size=4,
)

FORMS: dict[str, object] = {"elicitation": {"form": {}}}
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def modern_with(method: str, given: dict[str, Any], **more: object) -> Sent:
    """Return a request of the stateless protocol whose envelope is right; the rest is not ours."""
    meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": FORMS}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
    name = given.get(NAMED.get(method, ""))
    if isinstance(name, str) and name.isascii() and name.isprintable() and name == name.strip():
        headers["mcp-name"] = name
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**given, **more, "_meta": meta}}
    return Sent(json.dumps(body), headers)


def legacy_with(method: str, given: object) -> Sent:
    """Return a request of a handshake protocol."""
    return Sent(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": given}))


def with_params(method: str, given: object, *, modern: bool) -> Sent:
    """Return a request with any parameters; those of the stateless protocol are an object."""
    if modern and isinstance(given, dict):
        return modern_with(method, cast("dict[str, Any]", given))
    return legacy_with(method, given)


answers = st.fixed_dictionaries(
    {},
    optional={
        "action": st.sampled_from(["accept", "decline", "cancel"]) | anything,
        "content": st.just({"confirm": True}) | anything,
    },
)
rounds = st.fixed_dictionaries(
    {},
    optional={
        "inputResponses": st.fixed_dictionaries({}, optional={"confirm": answers | anything})
        | anything,
        "requestState": text | anything,
    },
)


def assert_composed(status: int, body: bytes) -> None:
    """Hold an answer to be one of ours: no failure, and nothing of how it came about."""
    assert status in ACCEPTED, (status, body)
    assert not WORKINGS.search(body), body
    assert b"-32603" not in body, body
    assert b"internal" not in body.lower(), body
