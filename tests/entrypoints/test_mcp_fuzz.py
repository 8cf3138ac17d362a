"""Whatever is sent, the endpoint answers: never a 5xx, an internal error, or its own workings."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.entrypoints.mcp_anything import (
    METHODS,
    TOOLS,
    anything,
    arguments,
    assert_composed,
    headers,
    legacy_with,
    messages,
    modern_with,
    params,
    rounds,
    with_params,
)
from tests.entrypoints.mcp_messages import Sent
from tests.entrypoints.mcp_world import McpWorld

many = settings(max_examples=300, deadline=None)


@pytest.fixture(scope="module")
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "garden.md", "Plant tulips in October.")
    world.write(notes, "photo.png", b"\x89PNG\x00")
    return world


def answered(
    world: McpWorld,
    sent: Sent,
    extra: Mapping[str, str] | None = None,
    *,
    method: str = "POST",
) -> None:
    answer = world.send(sent, extra, method=method)
    assert_composed(answer.status, answer.body)


@many
@given(body=st.binary(max_size=200) | st.text(max_size=200), extra=headers)
@example(body="[" * 50_000, extra={})
@example(body='{"a":' * 50_000, extra={})
@example(body=b"\xef\xbb\xbf{}", extra={})
@example(body='{"jsonrpc":"2.0","id":1,"method":"ping"} {}', extra={})
@example(body='{"jsonrpc":"2.0","id":1e400,"method":"ping"}', extra={})
@example(body='{"jsonrpc":"2.0","id":"\\ud800","method":"\\ud800"}', extra={})
@example(body='{"id":1,"id":2,"jsonrpc":"2.0","method":"ping","method":"tools/list"}', extra={})
def test_any_bytes_are_answered(world: McpWorld, body: str | bytes, extra: dict[str, str]) -> None:
    encodable = body if isinstance(body, bytes) else body.encode("utf-8", "replace")

    answered(world, Sent(encodable), extra)


@many
@given(message=messages | st.lists(messages, max_size=3) | anything, extra=headers)
def test_any_json_is_answered(world: McpWorld, message: object, extra: dict[str, str]) -> None:
    answered(world, Sent(json.dumps(message)), extra)


@many
@given(method=st.sampled_from(METHODS), given_params=params, modern=st.booleans())
def test_any_parameters_of_any_method_are_answered(
    world: McpWorld, method: str, given_params: object, modern: bool
) -> None:
    answered(world, with_params(method, given_params, modern=modern))


@many
@given(tool=st.sampled_from(TOOLS), given_arguments=arguments, modern=st.booleans())
@example(tool="list_vaults", given_arguments={"offset": 10**400}, modern=False)
@example(
    tool="read_file",
    given_arguments={"vault": "notes", "path": "garden.md", "offset": 10**30},
    modern=True,
)
@example(
    tool="read_file_raw",
    given_arguments={"vault": "notes", "path": "photo.png", "offset": -1},
    modern=False,
)
@example(tool="search_advanced", given_arguments={"q": "(" * 900, "regex": True}, modern=True)
@example(tool="search_documents", given_arguments={"q": "\ud800"}, modern=True)
@example(
    tool="list_directory", given_arguments={"vault": "notes", "after": "x" * 9_999}, modern=True
)
@example(tool="get_graph", given_arguments={"vault": "notes", "depth": "1e99"}, modern=True)
def test_any_arguments_are_answered(
    world: McpWorld, tool: str, given_arguments: object, modern: bool
) -> None:
    called = {"name": tool, "arguments": given_arguments}

    answered(world, with_params("tools/call", called, modern=modern))


@many
@given(
    tool=st.sampled_from([tool for tool in TOOLS if tool.startswith("apply_")]),
    given_arguments=arguments,
    more=rounds,
)
def test_any_round_of_a_question_is_answered(
    world: McpWorld, tool: str, given_arguments: object, more: dict[str, object]
) -> None:
    answered(world, modern_with("tools/call", {"name": tool, "arguments": given_arguments}, **more))


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("depth", [50, 500, 900, 2_000, 20_000])
@pytest.mark.parametrize("place", ["arguments", "_meta", "uri", "cursor", "inputResponses"])
@pytest.mark.parametrize("method", ["tools/call", "resources/read", "resources/list"])
def test_deep_nesting_is_answered(
    world: McpWorld, depth: int, place: str, method: str, *, modern: bool
) -> None:
    deep = '{"a":' * depth + "1" + "}" * depth
    build = modern_with if modern else legacy_with
    sent = build(method, {"name": "apply_edit_file", "uri": "vault://notes", place: "DEEP"})
    if place == "_meta":
        sent.body = sent.body.replace('"_meta": {', f'"_meta": {{"deep": {deep}, ')
    sent.body = sent.body.replace('"DEEP"', deep)

    answered(world, sent)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "x" * 1_000_000),
        ("arguments", {"vault": "notes", "path": "x" * 1_000_000}),
        ("arguments", {f"a{number}": number for number in range(50_000)}),
        ("arguments", {"vault": "notes", "path": "garden.md", "content": "\u202e" * 400_000}),
        ("requestState", "v1." + "A" * 1_000_000),
        ("inputResponses", {f"q{number}": {"action": "accept"} for number in range(20_000)}),
    ],
    ids=["name", "path", "many arguments", "content", "state", "many answers"],
)
@pytest.mark.parametrize("modern", [False, True])
def test_huge_values_are_answered_in_few_words(
    world: McpWorld, field: str, value: object, *, modern: bool
) -> None:
    called: dict[str, object] = {"name": "apply_edit_file", field: value}
    sent = with_params("tools/call", called, modern=modern)
    sent.headers.pop("mcp-name", None)

    answer = world.send(sent)

    assert_composed(answer.status, answer.body)
    assert len(answer.body) < 10_000


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
def test_any_way_of_asking_is_answered(world: McpWorld, method: str) -> None:
    answered(world, Sent(b"\x00"), method=method)
