"""Each call tells which places of the vaults it is about, as addresses to open (O65)."""

import asyncio
from typing import Any

import pytest

from archivolt.chat.requests import TurnRequest
from archivolt.chat.touched import touched_uris
from archivolt.domain.conversation import ConversationId, ToolCallRecord
from archivolt.domain.stream import ConfirmationRequired, StreamEvent, ToolUseResult
from archivolt.ports.chat_model import ModelTurn
from tests.chat_world import ChatWorld
from tests.fakes.models import ScriptedModel, calling


def record(name: str, status: str = "success", **arguments: Any) -> ToolCallRecord:  # noqa: ANN401
    return ToolCallRecord(tool_id="1", tool_name=name, arguments=arguments, status=status, size=1)


@pytest.mark.parametrize(
    ("call", "uris"),
    [
        (record("read_file", vault="notes", path="a b/é.md"), ["vault://notes/a%20b/%C3%A9.md"]),
        (record("list_directory", vault="notes", path="sub"), ["vault://notes/sub"]),
        (record("rename_file", vault="n", path="d/a.md", new_name="b.md"), ["vault://n/d/b.md"]),
        (record("rename_file", vault="n", path="a.md", new_name="b.md"), ["vault://n/b.md"]),
        (
            record("rename_file", "proposed", vault="n", path="a.md", new_name="b.md"),
            ["vault://n/a.md"],
        ),
        (
            record("move_path", vault="n", source_path="d/a.md", destination_dir="e"),
            ["vault://n/e/a.md"],
        ),
        (
            record("move_path", vault="n", source_path="d/a.md", destination_dir=""),
            ["vault://n/a.md"],
        ),
        (record("delete_file", vault="n", path="a.md"), []),
        (record("delete_file", "proposed", vault="n", path="a.md"), ["vault://n/a.md"]),
        (record("read_file", "error", vault="n", path="../x"), []),
        (record("edit_file", "declined", vault="n", path="a.md"), []),
        (record("search_documents", q="key", vault="n"), []),
        (record("mcp_files_read", vault="n", path="a.md"), []),
        (record("read_file", vault=["n"], path={"a": 1}), []),
        (record("read_file", path="a.md"), []),
    ],
)
def test_what_a_call_is_about_is_told_by_what_it_was_asked(
    call: ToolCallRecord, uris: list[str]
) -> None:
    assert touched_uris(call) == uris


def of_kind(events: list[StreamEvent], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_what_is_read_proposed_and_made_can_be_opened() -> None:
    read = calling("read_file", vault="notes", path="a.md")
    rename = calling("rename_file", vault="notes", path="a.md", new_name="b.md")
    world = ChatWorld(ScriptedModel(read, rename, ModelTurn(text="Done.")))
    world.write(world.vault("notes"), "a.md", "text")

    proposed = asyncio.run(world.turn("Rename it."))
    [waits] = of_kind(proposed, ConfirmationRequired)
    conversation = ConversationId(world.only_conversation().id)
    yes = TurnRequest(text="", conversation_id=conversation, confirm=(waits.confirmation_token,))
    made = asyncio.run(world.turn(yes))

    assert [each.uris for each in of_kind(proposed, ToolUseResult)] == [("vault://notes/a.md",)]
    [affected] = waits.preview["affected"]
    assert affected["uri"] == "vault://notes/a.md"
    assert affected["new_uri"] == "vault://notes/b.md"
    assert [each.uris for each in of_kind(made, ToolUseResult)] == [("vault://notes/b.md",)]
