"""A client that was let in to read calls for a change: it is told what to ask its person for."""

from dataclasses import replace
from typing import Any

import pytest

from archivolt.domain.identity import TokenKind, TokenReach
from tests.builders import ALICE, principal
from tests.entrypoints.mcp_messages import Sent, legacy, modern
from tests.entrypoints.mcp_world import PUBLIC_URL, McpWorld, Send

CHANGE = {"vault": "notes", "path": "new.md", "content": "x"}


@pytest.fixture(scope="module")
def world() -> McpWorld:
    world = McpWorld()
    world.write(world.vault("notes"), "a.md", "text")
    reader = principal(ALICE, kind=TokenKind.MCP)
    reads = TokenReach(read_only=True)
    world.tokens.issue("reader", replace(reader, reach=reads))
    world.tokens.issue("script", replace(reader, kind=TokenKind.PERSONAL, reach=reads))
    return world


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize("send", [legacy, modern])
@pytest.mark.parametrize("tool", ["propose_create_file", "apply_create_file"])
def test_a_change_is_answered_with_the_scopes_that_it_takes(
    world: McpWorld, send: Send, tool: str
) -> None:
    answer = world.send(send("tools/call", call(tool, CHANGE)), token="reader")

    assert (answer.status, answer.json["error"]["code"]) == (403, "token_read_only")
    assert answer.headers["www-authenticate"] == (
        'Bearer error="insufficient_scope", scope="vaults:read vaults:write", '
        f'resource_metadata="{PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"'
    )


@pytest.mark.parametrize("token", ["reader", "alice"])
def test_reading_asks_for_nothing_more(world: McpWorld, token: str) -> None:
    sent = modern("tools/call", call("list_directory", {"vault": "notes"}))

    assert world.send(sent, token=token).status == 200


def test_a_client_that_may_write_is_not_asked(world: McpWorld) -> None:
    sent = modern("tools/call", call("propose_create_file", CHANGE))

    assert world.send(sent, token="agent").json["result"]["structuredContent"]


def test_a_personal_token_is_refused_in_the_tool_as_no_sign_in_would_help(
    world: McpWorld,
) -> None:
    answer = world.send(modern("tools/call", call("propose_create_file", CHANGE)), token="script")

    assert answer.status == 200
    assert "token_read_only" in answer.body.decode()


@pytest.mark.parametrize("body", ["[]", "{", "7", '{"method": "tools/call", "params": []}'])
def test_what_is_no_call_is_answered_as_ever(world: McpWorld, body: str) -> None:
    assert world.send(Sent(body), token="reader").status in {200, 400}
