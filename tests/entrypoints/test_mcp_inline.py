"""A change asked about and made in one call: who may take the second round, and how often."""

from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from archivolt.domain.identity import TokenKind
from archivolt.domain.limits import MAX_QUESTION_CHARS, MAX_SHOWN_FILES
from archivolt.domain.vault import VaultRole
from tests.builders import ALICE, BOB, principal
from tests.entrypoints.mcp_messages import Json, Sent, legacy, modern
from tests.entrypoints.mcp_world import McpWorld

FORMS: Json = {"elicitation": {}}
GARDEN: Json = {"vault": "notes", "path": "garden.md", "content": "Water them."}
YES: Json = {"action": "accept", "content": {"confirm": True}}


@pytest.fixture
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "garden.md", "Plant tulips.")
    world.write(notes, "other.md", "Plant tulips.")
    world.share(notes, principal(BOB), VaultRole.WRITER)
    return world


def call(
    world: McpWorld,
    tool: str,
    arguments: Json,
    *,
    capabilities: Json | None = None,
    token: str = ALICE,
    **rounds: Any,  # noqa: ANN401  inputResponses and requestState
) -> dict[str, Any]:
    """Return the JSON-RPC answer of a call by a client that shows forms, or can what is given."""
    sent = modern("tools/call", {"name": tool, "arguments": arguments, **rounds})
    key = "io.modelcontextprotocol/clientCapabilities"
    sent.body["params"]["_meta"][key] = FORMS if capabilities is None else capabilities
    return world.send(sent, token=token).json


def ask(world: McpWorld, arguments: Json = GARDEN, tool: str = "apply_append_to_file") -> Json:
    result = call(world, tool, arguments)["result"]
    assert result["resultType"] == "input_required"
    return result


def answer(
    world: McpWorld,
    asked: Json,
    given: Json,
    arguments: Json = GARDEN,
    **more: Any,  # noqa: ANN401  of `call`
) -> Json:
    return call(
        world,
        more.pop("tool", "apply_append_to_file"),
        arguments,
        inputResponses={"confirm": given},
        requestState=asked["requestState"],
        **more,
    )


def text_of(world: McpWorld, path: str = "garden.md") -> str:
    return world.call("read_file", {"vault": "notes", "path": path})["content"]


def test_a_client_with_forms_is_asked_with_the_diff_and_the_change_is_made_in_one_call(
    world: McpWorld,
) -> None:
    asked = ask(world)
    form = asked["inputRequests"]["confirm"]["params"]
    unchanged = text_of(world)

    made = answer(world, asked, YES)["result"]

    assert unchanged == "Plant tulips."
    assert "+Water them." in form["message"]
    assert form["message"].startswith("In the vault notes:\n")
    assert form["requestedSchema"]["properties"]["confirm"]["type"] == "boolean"
    assert made["structuredContent"]["path"] == "garden.md"
    assert text_of(world) == "Plant tulips.\nWater them."


def test_the_result_fits_the_schema_whether_made_or_declined(world: McpWorld) -> None:
    tools = world.send(modern("tools/list")).json["result"]["tools"]
    schema = next(t["outputSchema"] for t in tools if t["name"] == "apply_append_to_file")

    declined = answer(world, ask(world), {"action": "decline"})["result"]["structuredContent"]
    made = answer(world, ask(world), YES)["result"]["structuredContent"]

    jsonschema.validate(declined, schema)
    jsonschema.validate(made, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, schema)
    assert schema["type"] == "object"


@pytest.mark.parametrize(
    "given",
    [
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept"},
        {"action": "accept", "content": {}},
        {"action": "accept", "content": {"confirm": False}},
        {"action": "accept", "content": {"confirm": "true"}},
        {"action": "accept", "content": {"sure": True}},
    ],
)
def test_anything_but_a_yes_declines_for_good(world: McpWorld, given: Json) -> None:
    asked = ask(world)

    declined = answer(world, asked, given)["result"]
    again = answer(world, asked, YES)["result"]

    assert declined["structuredContent"] == {"status": "declined"}
    assert not declined.get("isError", False)
    assert again["content"][0]["text"].startswith("confirmation_declined: ")
    assert text_of(world) == "Plant tulips."


def test_a_replay_gets_the_same_answer_and_changes_nothing_again(world: McpWorld) -> None:
    asked = ask(world)

    results = [answer(world, asked, YES)["result"]["structuredContent"] for _ in range(3)]

    assert results[0] == results[1] == results[2]
    assert text_of(world).count("Water") == 1


def _tampered(world: McpWorld) -> Json:
    asked = ask(world)
    state = asked["requestState"]
    return asked | {"requestState": state[:-6] + ("A" if state[-6] != "A" else "B") + state[-5:]}


def _silent_token(world: McpWorld) -> Json:
    proposed = world.call_tool("propose_append_to_file", GARDEN)["structuredContent"]
    return {"requestState": proposed["confirmation_token"]}


def _made_up(_: McpWorld) -> Json:
    return {"requestState": "v1.nothing"}


def _empty(_: McpWorld) -> Json:
    return {"requestState": ""}


STATES: list[tuple[Callable[[McpWorld], Json], Json]] = [
    (_tampered, {}),
    (_made_up, {}),
    (_empty, {}),
    (_silent_token, {}),
    (ask, {"token": BOB}),
    (ask, {"arguments": GARDEN | {"path": "other.md"}}),
    (ask, {"arguments": GARDEN | {"content": "more"}}),
    (ask, {"tool": "apply_create_file"}),
]


@pytest.mark.parametrize(
    ("state", "more"),
    STATES,
    ids=[
        "tampered",
        "made up",
        "empty",
        "token of a proposal",
        "another user",
        "another path",
        "another text",
        "another tool",
    ],
)
def test_a_state_is_of_use_to_its_user_and_its_call_alone(
    world: McpWorld, state: Callable[[McpWorld], Json], more: Json
) -> None:
    refused = answer(world, state(world), YES, **more)

    assert refused["error"]["code"] == -32602
    assert refused["error"]["message"] == "Invalid or expired requestState"
    assert text_of(world) == text_of(world, "other.md") == "Plant tulips."


def test_a_state_is_no_confirmation_token(world: McpWorld) -> None:
    state = ask(world)["requestState"]

    result = call(world, "apply_append_to_file", {"confirmation_token": state})["result"]

    assert result["content"][0]["text"].startswith("confirmation_invalid: ")


def test_a_file_that_changed_since_the_question_is_a_conflict(world: McpWorld) -> None:
    edit: Json = {"vault": "notes", "path": "garden.md", "content": "Plant leeks."}
    asked = ask(world, edit, "apply_edit_file")
    world.change("append_to_file", {"vault": "notes", "path": "garden.md", "content": "!"})

    result = answer(world, asked, YES, edit, tool="apply_edit_file")["result"]

    assert result["content"][0]["text"].startswith("conflict: ")
    assert text_of(world).startswith("Plant tulips.")


def test_a_question_that_waited_too_long_is_over(world: McpWorld) -> None:
    asked = ask(world)
    world.clock.advance(seconds=601)

    result = answer(world, asked, YES)["result"]

    assert result["content"][0]["text"].startswith("confirmation_expired: ")


def test_an_answer_without_a_state_and_a_state_without_an_answer_are_asked_again(
    world: McpWorld,
) -> None:
    state = ask(world)["requestState"]

    stateless = call(world, "apply_append_to_file", GARDEN, inputResponses={"confirm": YES})
    unanswered = call(world, "apply_append_to_file", GARDEN, requestState=state)

    assert stateless["result"]["resultType"] == "input_required"
    assert unanswered["result"]["resultType"] == "input_required"
    assert text_of(world) == "Plant tulips."


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"sampling": {}}])
def test_a_client_that_shows_no_forms_is_told_to_propose_first(
    world: McpWorld, capabilities: Json
) -> None:
    result = call(world, "apply_append_to_file", GARDEN, capabilities=capabilities)["result"]

    assert result["isError"] is True
    assert "structuredContent" not in result
    assert "call propose_append_to_file first" in result["content"][0]["text"]


def test_a_handshake_client_is_told_to_propose_first(world: McpWorld) -> None:
    sent: Sent = legacy("tools/call", {"name": "apply_append_to_file", "arguments": GARDEN})

    result = world.send(sent).json["result"]

    assert "call propose_append_to_file first" in result["content"][0]["text"]


def test_a_token_and_arguments_beside_it_are_refused(world: McpWorld) -> None:
    token = world.call_tool("propose_append_to_file", GARDEN)["structuredContent"][
        "confirmation_token"
    ]

    result = call(world, "apply_append_to_file", GARDEN | {"confirmation_token": token})["result"]

    assert result["content"][0]["text"].startswith("confirmation_ambiguous: ")
    assert text_of(world) == "Plant tulips."


@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_token_is_none(world: McpWorld, empty: str | None) -> None:
    asked = call(world, "apply_append_to_file", GARDEN | {"confirmation_token": empty})

    assert asked["result"]["resultType"] == "input_required"


def test_nobody_is_asked_about_what_could_not_be_done(world: McpWorld) -> None:
    missing = call(world, "apply_append_to_file", GARDEN | {"path": "gone.md"})["result"]
    foreign = call(world, "apply_append_to_file", GARDEN, token="carol")["result"]

    assert missing["content"][0]["text"].startswith("file_not_found: ")
    assert foreign["content"][0]["text"].startswith("vault_not_found: ")


def test_files_that_are_not_listed_are_counted_in_the_question(world: McpWorld) -> None:
    notes = world.vault("many")
    for number in range(MAX_SHOWN_FILES + 3):
        world.write(notes, f"d/{number}.md", "x")

    asked = ask(world, {"vault": "many", "path": "d", "recursive": True}, "apply_delete_directory")

    lines = asked["inputRequests"]["confirm"]["params"]["message"].splitlines()
    assert (lines[0], lines[-1]) == ("In the vault many:", "and 3 more")


def test_a_long_diff_is_cut_in_the_question(world: McpWorld) -> None:
    long = GARDEN | {"content": "\n" + "Water the garden again.\n" * 1_000}

    message = ask(world, long)["inputRequests"]["confirm"]["params"]["message"]

    assert 1_000 < len(message) <= MAX_QUESTION_CHARS
    assert "left out" in message.splitlines()[-1]


def test_what_a_document_holds_can_neither_hide_nor_forge_a_line_of_the_question(
    world: McpWorld,
) -> None:
    hidden = GARDEN | {"content": "Water them.\x1b[2K\x1b[1A\u202e"}

    message = ask(world, hidden)["inputRequests"]["confirm"]["params"]["message"]

    assert "+Water them.␛[2K␛[1A�" in message


def test_an_agents_token_is_asked_as_well(world: McpWorld) -> None:
    world.tokens.issue("agent", principal(ALICE, kind=TokenKind.MCP))

    asked = call(world, "apply_append_to_file", GARDEN, token="agent")["result"]
    made = answer(world, asked, YES, token="agent")["result"]

    assert made["structuredContent"]["path"] == "garden.md"
