"""A run is the chat's loop: the same script brings the same messages and the same answer."""

import asyncio
import json

import pytest

from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.chat.running import RunningTurn
from archivolt.domain.conversation import ConversationId
from archivolt.domain.stream import ConfirmationRequired
from archivolt.ports.chat_model import ModelMessage, ModelToolCall, ModelTurn
from archivolt.runs.deciding import Decision
from tests.builders import ACME, ALICE, principal
from tests.fakes.models import ScriptedModel, calling
from tests.run_world import RunWorld

GOAL = "Where is the spare key? Write it down."
SCRIPTS = {
    "an answer at once": [ModelTurn(text="Under the mat.")],
    "a search, a file, an answer": [
        calling("search_fulltext", "I look.", query="spare key"),
        calling("read_file", "", vault="notes", path="key.md"),
        ModelTurn(text="Under the [mat](vault://notes/key.md)."),
    ],
    "two calls at once": [
        ModelTurn(
            text="Both.",
            tool_calls=(
                ModelToolCall(id="a", name="list_vaults", arguments="{}"),
                ModelToolCall(
                    id="b", name="read_file", arguments='{"vault": "notes", "path": "key.md"}'
                ),
            ),
            finish_reason="tool_calls",
        ),
        ModelTurn(text="Done."),
    ],
    "a tool that fails, a tool that is not there, arguments that are none": [
        calling("read_file", "", vault="notes", path="absent.md"),
        calling("no_such_tool"),
        ModelTurn(
            text="",
            tool_calls=(ModelToolCall(id="x", name="read_file", arguments="{"),),
            finish_reason="tool_calls",
        ),
        ModelTurn(text="", finish_reason="malformed"),
        ModelTurn(text="I give up."),
    ],
    "the same call again and again": [calling("list_vaults", "Again.")],
    "an empty answer": [ModelTurn(text="")],
    "an answer that was cut": [ModelTurn(text="It is", finish_reason="length")],
}
CHANGES = [
    ModelTurn(
        text="I write.",
        tool_calls=(
            ModelToolCall(
                id="w1",
                name="create_file",
                arguments='{"vault": "notes", "path": "a.md", "content": "one"}',
            ),
            ModelToolCall(
                id="r1", name="read_file", arguments='{"vault": "notes", "path": "key.md"}'
            ),
            ModelToolCall(
                id="w2",
                name="create_file",
                arguments='{"vault": "notes", "path": "b.md", "content": "two"}',
            ),
        ),
        finish_reason="tool_calls",
    ),
    calling("list_directory", "I look at it.", vault="notes"),
    ModelTurn(text="Written."),
]


def world(*script: ModelTurn) -> tuple[RunWorld, ScriptedModel]:
    model = ScriptedModel(*script)
    made = RunWorld(model)
    made.write(made.vault("notes"), "key.md", "The spare key is under the mat.")
    return made, model


def asked(model: ScriptedModel) -> list[tuple[list[ModelMessage], str, bool]]:
    return [
        (list(request.messages), json.dumps(list(request.tools)), request.answer_only)
        for request in model.requests
    ]


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_run_asks_the_model_what_the_chat_does_and_brings_its_answer(
    script: list[ModelTurn],
) -> None:
    chat, in_chat = world(*script)
    turn = asyncio.run(_turn(chat, TurnRequest(text=GOAL)))
    durable, in_run = world(*script)

    run = durable.drive(durable.start_run(GOAL))

    assert asked(in_run) == asked(in_chat)
    result = durable.agent_runs.result(run)
    assert result is not None
    assert result.text == turn.progress.text
    assert result.tool_calls == tuple(turn.progress.calls)
    assert [each.uri for each in result.citations] == [each.uri for each in turn.citations]
    assert (run.use.input_tokens, run.use.output_tokens) == (
        turn.progress.input_tokens,
        turn.progress.output_tokens,
    )


@pytest.mark.parametrize("agreed", [True, False], ids=["agreed to", "declined"])
def test_changes_are_decided_on_as_in_the_chat(agreed: bool) -> None:
    chat, in_chat = world(*CHANGES)
    events = asyncio.run(chat.turn(GOAL))
    tokens = tuple(e.confirmation_token for e in events if isinstance(e, ConfirmationRequired))
    decided = TurnRequest(
        text="",
        conversation_id=ConversationId(chat.only_conversation().id),
        confirm=tokens if agreed else (),
        decline=() if agreed else tokens,
    )
    asyncio.run(chat.turn(decided))
    durable, in_run = world(*CHANGES)

    run = durable.drive(durable.start_run(GOAL))
    for approval in durable.waiting(run):
        decision = Decision.APPROVE if agreed else Decision.DECLINE
        durable.decisions.decide(principal(ALICE), run.id, approval.id, decision)
    durable.carry_on(run)

    assert len(tokens) == 2
    assert _without_what_moves(in_run) == _without_what_moves(in_chat)


def test_what_a_run_found_and_then_moved_is_cited_where_it_brought_it() -> None:
    find = calling("search_documents", q="spare key")
    move = calling("move_path", vault="notes", source_path="key.md", destination_dir="old")
    on, _ = world(find, move, ModelTurn(text="Done."))
    on.write(on.vaults.access(principal(ALICE), "notes").vault.ref, "old/b.md", "b")
    run = on.drive(on.start_run(GOAL))
    [approval] = on.waiting(run)
    on.decisions.decide(principal(ALICE), run.id, approval.id, Decision.APPROVE)

    on.carry_on(run)

    kept = on.agent_runs.result(on.agent_runs.get(ACME, run.id))
    assert kept is not None
    assert [each.uri for each in kept.citations] == ["vault://notes/old/key.md"]


def test_a_run_about_a_place_is_shown_what_the_chat_is_shown() -> None:
    places = (Place(kind=PlaceKind.FILE, vault="notes", path="key.md"),)
    about = TurnRequest(text=GOAL, context=ContextKind.DOCUMENTS, places=places)
    chat, in_chat = world(ModelTurn(text="See key.md."))
    turn = asyncio.run(_turn(chat, about))
    durable, in_run = world(ModelTurn(text="See key.md."))

    run = durable.drive(durable.start_run(GOAL, context=ContextKind.DOCUMENTS, places=places))

    assert asked(in_run) == asked(in_chat)
    result = durable.agent_runs.result(run)
    assert result is not None
    assert [each.uri for each in result.citations] == [each.uri for each in turn.citations]
    assert len(turn.citations) == 1


async def _turn(chat: RunWorld, request: TurnRequest) -> RunningTurn:
    turn = await chat.start(request)
    await turn.wait()
    return turn


def _without_what_moves(model: ScriptedModel) -> list[list[tuple[str, str]]]:
    """Return the messages without versions, which are made up anew in each world."""
    return [[(m.role, m.text) for m in request.messages] for request in model.requests]
