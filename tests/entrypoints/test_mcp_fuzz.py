"""Whatever is sent, the endpoint answers: never a 5xx, an internal error, or its own workings."""

import json
import re
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.entrypoints.mcp_messages import MODERN, Sent
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_api import Answer

ACCEPTED = {200, 202, 400, 403, 404, 405, 413, 415}
WORKINGS = re.compile(
    rb"Traceback|File \\?\"|\.py\b|pydantic|validation error|site-packages|NoneType|object at 0x",
    re.IGNORECASE,
)
TOOLS = [
    "list_vaults",
    "list_directory",
    "list_all_files",
    "read_file",
    "read_file_raw",
    "get_backlinks",
    "list_backups",
    "diff_backup",
    "get_graph",
    "search_fulltext",
    "search_advanced",
    "search_paths",
    "list_tags",
    "suggest_tags",
    "list_recent",
    "search_documents",
    "sync_documents",
    "propose_create_file",
    "propose_edit_file",
    "propose_append_to_file",
    "propose_replace_in_files",
    "propose_delete_directory",
    "propose_restore_backup",
    "apply_edit_file",
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
    "prompts/get",
    "completion/complete",
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
many = settings(max_examples=400, deadline=None)


@pytest.fixture(scope="module")
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "garden.md", "Plant tulips in October.")
    world.write(notes, "photo.png", b"\x89PNG\x00")
    return world


def assert_composed(answer: Answer) -> None:
    assert answer.status in ACCEPTED
    assert not WORKINGS.search(answer.body)
    assert b"-32603" not in answer.body
    assert b"internal" not in answer.body.lower()


@many
@given(body=st.binary(max_size=200) | st.text(max_size=200), extra=headers)
@example(body="[" * 50_000, extra={})
@example(body='{"a":' * 50_000, extra={})
def test_any_bytes_are_answered(world: McpWorld, body: str | bytes, extra: dict[str, str]) -> None:
    encodable = body if isinstance(body, bytes) else body.encode("utf-8", "replace")

    assert_composed(world.send(Sent(encodable), extra))


@many
@given(message=messages | st.lists(messages, max_size=3) | anything, extra=headers)
def test_any_json_is_answered(world: McpWorld, message: object, extra: dict[str, str]) -> None:
    assert_composed(world.send(Sent(json.dumps(message)), extra))


@many
@given(
    method=st.sampled_from(["tools/call", "resources/read", "resources/list", "tools/list"]),
    given_params=params,
    modern=st.booleans(),
)
def test_any_parameters_are_answered(
    world: McpWorld, method: str, given_params: object, modern: bool
) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given_params}
    extra: dict[str, str] = {}
    if modern and isinstance(given_params, dict):
        meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": NOTHING}
        message["params"] = {**cast("dict[str, Any]", given_params), "_meta": meta}
        extra = {"mcp-protocol-version": MODERN, "mcp-method": method}

    assert_composed(world.send(Sent(json.dumps(message)), extra))


@many
@given(tool=st.sampled_from(TOOLS), given_arguments=arguments)
@example(tool="list_vaults", given_arguments={"offset": 10**400})
@example(
    tool="read_file", given_arguments={"vault": "notes", "path": "garden.md", "offset": 10**30}
)
@example(
    tool="read_file_raw", given_arguments={"vault": "notes", "path": "photo.png", "offset": -1}
)
def test_any_arguments_are_answered(world: McpWorld, tool: str, given_arguments: object) -> None:
    sent = Sent(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": tool, "arguments": given_arguments},
            }
        )
    )

    assert_composed(world.send(sent))


@pytest.mark.parametrize("depth", [50, 500, 900, 2_000, 20_000])
@pytest.mark.parametrize("place", ["arguments", "_meta", "uri", "cursor"])
@pytest.mark.parametrize("method", ["tools/call", "resources/read", "resources/list"])
def test_deep_nesting_is_answered(world: McpWorld, depth: int, place: str, method: str) -> None:
    deep = '{"a":' * depth + "1" + "}" * depth
    named = '"name": "read_file", ' if place != "name" else ""
    body = f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{named}"{place}":{deep}}}}}'

    assert_composed(world.send(Sent(body)))
