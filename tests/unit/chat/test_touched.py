"""Each call tells which places of the vaults it is about, as addresses to open (O65)."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from archivolt.chat.archive import as_markdown
from archivolt.chat.requests import TurnRequest
from archivolt.chat.touched import touched_uris
from archivolt.domain.conversation import ConversationId, ToolCallRecord
from archivolt.domain.identity import Role
from archivolt.domain.ingestion import Generation
from archivolt.domain.language import Language
from archivolt.domain.moves import departed
from archivolt.domain.paths import VaultPath
from archivolt.domain.stream import Citations, ConfirmationRequired, StreamEvent, ToolUseResult
from archivolt.domain.vault import VaultRef
from archivolt.ports.chat_model import ModelTurn
from tests.builders import ALICE, principal
from tests.chat_world import ChatWorld
from tests.fakes.models import ScriptedModel, calling


def record(name: str, status: str = "success", **arguments: Any) -> ToolCallRecord:  # noqa: ANN401  JSON
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
        (record("search_documents", q="key", vault="n", path="sub"), []),
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


def cited(events: list[StreamEvent]) -> list[str]:
    return [item.uri for each in of_kind(events, Citations) for item in each.items]


def test_what_a_turn_found_and_then_renamed_is_cited_where_it_is_now() -> None:
    search = calling("search_documents", q="mat")
    rename = calling("rename_file", vault="notes", path="d/a.md", new_name="é b.md")
    move = calling("rename_directory", vault="notes", path="d", new_name="e")
    world = ChatWorld(ScriptedModel(search, rename, move, ModelTurn(text="Done.")))
    notes = world.vault("notes")
    world.write(notes, "d/a.md", "under the mat")
    world.write(notes, "d-2/b.md", "beside the mat")

    events = asyncio.run(world.turn("Rename it."))
    for _ in range(2):
        [waits] = of_kind(events, ConfirmationRequired)
        conversation = ConversationId(world.only_conversation().id)
        token = (waits.confirmation_token,)
        yes = TurnRequest(text="", conversation_id=conversation, confirm=token)
        events = asyncio.run(world.turn(yes))

    assert sorted(cited(events)) == ["vault://notes/d-2/b.md", "vault://notes/e/%C3%A9%20b.md"]
    kept = world.only_conversation().messages[-1].citations
    assert {each.path for each in kept} == {"d-2/b.md", "e/é b.md"}


def test_a_conversation_that_is_read_again_leads_to_where_its_documents_are_now() -> None:
    find, read = (
        calling("search_documents", q="mat"),
        calling("read_file", vault="notes", path="a.md"),
    )
    world = ChatWorld(ScriptedModel(find, read, ModelTurn(text="Done.")))
    notes = world.vault("notes")
    world.write(notes, "a.md", "under the mat")
    world.write(notes, "stays.md", "beside the mat")
    asyncio.run(world.turn("Where?"))
    conversation = world.only_conversation().id
    move(world, notes, "a.md", "b.md")
    move(world, notes, "b.md", "sub/c d.md")

    [_, answer] = world.conversation_service.opened(principal(ALICE), conversation).messages

    assert {each.uri for each in answer.citations} == {
        "vault://notes/stays.md",
        "vault://notes/sub/c%20d.md",
    }
    assert {each.path for each in answer.citations} == {"stays.md", "sub/c d.md"}
    assert [touched_uris(call) for call in answer.tool_calls] == [
        [],
        ["vault://notes/sub/c%20d.md"],
    ]
    assert answer.tool_calls[1].arguments == {"vault": "notes", "path": "a.md"}
    # Where a document went is nothing to whoever is no member of its vault.
    admin = principal("carol", role=Role.TENANT_ADMIN)
    [_, seen] = world.conversation_service.opened(admin, conversation).messages
    assert {each.path for each in seen.citations} == {"a.md", "stays.md"}
    assert touched_uris(seen.tool_calls[1]) == ["vault://notes/a.md"]


@pytest.mark.parametrize("code", ["", "\n```\n[code](vault://notes/a.md)\n```\n"])
def test_a_link_in_an_answer_that_is_read_again_leads_to_where_its_document_is_now(
    code: str,
) -> None:
    said = f"""See [a.md](vault://notes/a.md#=The%20key "where"), [stays](vault://notes/stays.md),
![](<vault://notes/a.md>) and [it][1]; it was at vault://notes/a.md.

[1]: vault://notes/a%2Emd
[elsewhere](https://notes/a.md), [another](vault://other/a.md), [none](vault://notes/../a.md)
{code}"""
    question = "Is [it](vault://notes/a.md) right?"
    world = ChatWorld(ScriptedModel(ModelTurn(text=said)))
    notes = world.vault("notes")
    world.write(notes, "a.md", "under the mat")
    world.write(notes, "stays.md", "beside the mat")
    asyncio.run(world.turn(question))
    conversation = world.only_conversation().id
    move(world, notes, "a.md", "sub/c (d).md")

    asked, answer = world.conversation_service.opened(principal(ALICE), conversation).messages

    assert asked.text == question
    now = "vault://notes/sub/c%20%28d%29.md"
    expected = said.replace("(vault://notes/a.md#", f"({now}#")
    # Beside definitions a blank keeps what is in brackets from being taken for one.
    expected = expected.replace("<vault://notes/a.md>", f" <{now}>")
    assert answer.text == expected.replace("vault://notes/a%2Emd", now)
    assert world.only_conversation().messages[1].text == said
    admin = principal("carol", role=Role.TENANT_ADMIN)
    [_, seen] = world.conversation_service.opened(admin, conversation).messages
    assert seen.text == said


def test_what_was_proposed_and_declined_is_in_the_conversation_that_is_taken_home() -> None:
    change = calling("create_file", vault="notes", path="b c.md", content="x")
    world = ChatWorld(ScriptedModel(change, ModelTurn(text="As you like.")))
    world.vault("notes")
    [waits] = of_kind(asyncio.run(world.turn("Note it.")), ConfirmationRequired)
    conversation = ConversationId(world.only_conversation().id)
    token = (waits.confirmation_token,)
    asyncio.run(world.turn(TurnRequest(text="", conversation_id=conversation, decline=token)))

    taken = as_markdown(world.only_conversation(), Language.FR)

    assert "- `create_file` (proposé): <vault://notes/b%20c.md>\n" in taken
    assert "- `create_file` (refusé)\n" in taken
    assert "As you like." in taken


def move(world: ChatWorld, vault: VaultRef, source: str, target: str) -> None:
    """Leave the catalogue as a move does."""
    stored = world.catalogue.get(vault, VaultPath(source))
    assert stored is not None
    now = world.clock.now()
    gone = departed(
        vault, stored.path, stored, to=VaultPath(target), over=Generation("none"), now=now
    )
    assert world.catalogue.advance(gone, previous=stored)
    arrived = replace(stored, path=VaultPath(target))
    assert world.catalogue.advance(arrived, previous=None)
