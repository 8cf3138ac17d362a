"""Changes in two steps, as REST and MCP clients make them."""

from typing import Any

import jsonschema
import pytest

from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.tools.registry import Registry
from tests.confirmed_changes import Hand, changing_tools
from tests.entrypoints.mcp_messages import modern
from tests.entrypoints.mcp_readings import untold
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld
from tests.unit.tools.test_every_change import CHANGES, NOTES
from tests.world import World

EDIT = {"vault": "notes", "path": "a.md", "content": "two"}
OF_TOOL = "/api/v1/tools/edit_file"


class ChangingRest(RestWorld):
    def tools(self) -> Registry:
        return changing_tools(Hand(self.store))

    def step(self, name: str, body: object, *, user: str = "alice", **headers: str) -> Answer:
        return self.post(f"{OF_TOOL}/{name}", body, user=user, **headers)


class ChangingMcp(McpWorld):
    def tools(self) -> Registry:
        return changing_tools(Hand(self.store))


def with_notes(world: World) -> VaultRef:
    ref = world.vault("notes")
    world.write(ref, "a.md", "one")
    return ref


@pytest.fixture
def rest() -> ChangingRest:
    return ChangingRest()


@pytest.fixture
def mcp() -> ChangingMcp:
    return ChangingMcp()


def text_in(world: World, ref: VaultRef) -> str:
    return world.store.read(ref, VaultPath("a.md")).data.decode()


def overtake(world: World, ref: VaultRef) -> str:
    """Change the file under a proposal; return its new ETag."""
    path = VaultPath("a.md")
    head = world.store.head(ref, path)
    return world.store.replace(ref, path, b"theirs", expected=head.etag).etag


# ------------------------------------------------------------------------------------------- REST


def test_a_change_over_rest_is_proposed_then_applied_once(rest: ChangingRest) -> None:
    ref = with_notes(rest)

    assert rest.post(OF_TOOL, EDIT).json["error"]["code"] == "confirmation_required"
    proposed = rest.step("propose", EDIT)
    assert proposed.status == 200
    assert set(proposed.json) == {"confirmation_token", "expires_at", "preview"}
    assert proposed.json["expires_at"] == "2026-09-01T08:40:00Z"
    assert proposed.json["preview"] == {
        "summary": "Edit a.md",
        "diff": "-old\n+two\n",
        "affected": [{"path": "a.md", "change": "edit", "uri": "vault://notes/a.md"}],
        "affected_total": 1,
        "vault": "notes",
    }
    assert text_in(rest, ref) == "one"

    body = {"confirmation_token": proposed.json["confirmation_token"]}
    first, again = rest.step("apply", body), rest.step("apply", body)
    assert (first.status, first.json) == (200, again.json)
    assert set(first.json) == {"result"}
    assert (text_in(rest, ref), len(rest.store.versions(ref, VaultPath("a.md")))) == ("two", 2)


def test_a_declined_change_is_a_conflict_over_rest(rest: ChangingRest) -> None:
    ref = with_notes(rest)
    token = {"confirmation_token": rest.step("propose", EDIT).json["confirmation_token"]}

    assert rest.step("decline", token).status == 204
    answer = rest.step("apply", token, Accept_Language="fr")
    assert (answer.status, answer.json["error"]["code"]) == (409, "confirmation_declined")
    assert answer.json["error"]["message"].startswith("Ce changement a été refusé")
    assert text_in(rest, ref) == "one"


def test_a_conflict_over_rest_carries_the_current_etag_and_a_diff(rest: ChangingRest) -> None:
    ref = with_notes(rest)
    token = {"confirmation_token": rest.step("propose", EDIT).json["confirmation_token"]}
    etag = overtake(rest, ref)

    answer = rest.step("apply", token)

    assert (answer.status, answer.json["error"]["code"]) == (409, "conflict")
    assert answer.json["error"]["details"] == {"etag": etag, "diff": "-theirs\n+yours\n"}


@pytest.mark.parametrize("user", ["bob", "mallory", "alice-of-globex", "alices-agent", "root"])
def test_nobody_else_applies_or_declines_over_rest(rest: ChangingRest, user: str) -> None:
    ref = with_notes(rest)
    token = {"confirmation_token": rest.step("propose", EDIT).json["confirmation_token"]}

    for step in ("apply", "decline"):
        answer = rest.step(step, token, user=user)
        assert (answer.status, answer.json["error"]["code"]) == (400, "confirmation_invalid")
    assert text_in(rest, ref) == "one"
    assert rest.step("apply", token).status == 200


def test_an_agents_token_proposes_and_applies_its_own_changes_over_rest(rest: ChangingRest) -> None:
    ref = with_notes(rest)
    proposed = rest.step("propose", EDIT, user="alices-agent")
    token = {"confirmation_token": proposed.json["confirmation_token"]}

    assert rest.step("apply", token, user="alices-agent").status == 200
    assert text_in(rest, ref) == "two"


@pytest.mark.parametrize(
    "body", [{}, {"confirmation_token": 7}, {"confirmation_token": "x", "path": "a.md"}, [], None]
)
def test_an_apply_without_exactly_a_token_is_not_valid(rest: ChangingRest, body: object) -> None:
    with_notes(rest)

    assert rest.step("apply", body).status == 422


def test_a_forged_token_over_rest_is_a_bad_request(rest: ChangingRest) -> None:
    answer = rest.step("apply", {"confirmation_token": "a.b.c"})

    assert (answer.status, answer.json["error"]["code"]) == (400, "confirmation_invalid")


def test_steps_need_a_token_of_access(rest: ChangingRest) -> None:
    with_notes(rest)
    token = rest.step("propose", EDIT).json["confirmation_token"]

    for step in ("propose", "apply", "decline"):
        assert rest.step(step, {"confirmation_token": token}, user="").status == 401
        # And a confirmation is none.
        answer = rest.step(step, {"confirmation_token": token}, user=token)
        assert answer.status == 401


# -------------------------------------------------------------------------------------------- MCP


def listed(mcp: ChangingMcp) -> dict[str, dict[str, Any]]:
    return {t["name"]: t for t in mcp.send(modern("tools/list")).json["result"]["tools"]}


def told(result: dict[str, Any]) -> str:
    assert result["isError"] is True
    return result["content"][0]["text"]


def test_a_change_over_mcp_is_two_tools_and_never_one(mcp: ChangingMcp) -> None:
    with_notes(mcp)

    assert list(listed(mcp)) == [
        "propose_edit_file",
        "apply_edit_file",
        "propose_rename_file",
        "apply_rename_file",
        "read_file",
    ]
    answer = mcp.send(modern("tools/call", {"name": "edit_file", "arguments": EDIT}))
    assert answer.json["error"]["code"] == -32602


def test_each_step_says_what_it_may_do(mcp: ChangingMcp) -> None:
    hints = {
        name: [
            tool["annotations"][f"{hint}Hint"] for hint in ("readOnly", "destructive", "idempotent")
        ]
        for name, tool in listed(mcp).items()
    }

    assert hints == {
        "propose_edit_file": [True, False, False],
        "apply_edit_file": [False, False, True],
        "propose_rename_file": [True, False, False],
        "apply_rename_file": [False, True, True],
        "read_file": [True, False, True],
    }
    assert "apply_edit_file" in listed(mcp)["propose_edit_file"]["description"]
    asked = [
        list(listed(mcp)[f"{step}_edit_file"]["inputSchema"]["properties"])
        for step in ("propose", "apply")
    ]
    assert asked[1] == ["confirmation_token", *asked[0]]


def test_a_change_over_mcp_is_proposed_then_applied_once(mcp: ChangingMcp) -> None:
    ref, tools = with_notes(mcp), listed(mcp)

    proposed = mcp.call_tool("propose_edit_file", EDIT)["structuredContent"]
    jsonschema.validate(proposed, tools["propose_edit_file"]["outputSchema"])
    assert text_in(mcp, ref) == "one"

    token = {"confirmation_token": proposed["confirmation_token"]}
    first, again = (mcp.call_tool("apply_edit_file", token) for _ in range(2))
    jsonschema.validate(first["structuredContent"], tools["apply_edit_file"]["outputSchema"])
    assert first == again
    assert (text_in(mcp, ref), len(mcp.store.versions(ref, VaultPath("a.md")))) == ("two", 2)


@pytest.mark.parametrize("arguments", [{}, {"confirmation_token": ""}, EDIT])
def test_an_apply_over_mcp_without_a_token_changes_nothing(
    mcp: ChangingMcp, arguments: dict[str, str]
) -> None:
    ref = with_notes(mcp)

    assert told(mcp.call_tool("apply_edit_file", arguments)).startswith("confirmation_unasked: ")
    assert text_in(mcp, ref) == "one"


def test_a_token_with_arguments_beside_it_is_refused(mcp: ChangingMcp) -> None:
    ref = with_notes(mcp)
    proposed = mcp.call_tool("propose_edit_file", EDIT)["structuredContent"]
    both = {"confirmation_token": proposed["confirmation_token"]} | EDIT

    assert told(mcp.call_tool("apply_edit_file", both)).startswith("confirmation_ambiguous: ")
    assert text_in(mcp, ref) == "one"


@pytest.mark.parametrize("token", ["bob", "carol"])
def test_nobody_else_applies_over_mcp(mcp: ChangingMcp, token: str) -> None:
    ref = with_notes(mcp)
    proposed = mcp.call_tool("propose_edit_file", EDIT)["structuredContent"]
    given = {"confirmation_token": proposed["confirmation_token"]}

    assert told(mcp.call_tool("apply_edit_file", given, token=token)).startswith(
        "confirmation_invalid: "
    )
    assert told(mcp.call_tool("apply_rename_file", given)).startswith("confirmation_invalid: ")
    assert text_in(mcp, ref) == "one"


def test_a_conflict_over_mcp_tells_the_current_etag_and_a_diff(mcp: ChangingMcp) -> None:
    ref = with_notes(mcp)
    proposed = mcp.call_tool("propose_edit_file", EDIT)["structuredContent"]
    etag = overtake(mcp, ref)

    given = {"confirmation_token": proposed["confirmation_token"]}
    text = told(mcp.call_tool("apply_edit_file", given))

    assert text.startswith("conflict: ")
    assert text.endswith(f"\netag: {etag}\ndiff: -theirs\n+yours\n")


def test_a_long_preview_with_its_token_fits_a_models_result(mcp: ChangingMcp) -> None:
    with_notes(mcp)

    result = mcp.call_tool("propose_edit_file", EDIT | {"content": "a line\n" * 5_000})

    assert len(result["content"][0]["text"]) <= 8_000
    assert result["structuredContent"]["preview"]["note"].startswith("Cut to fit")
    assert untold(result["structuredContent"], result["content"][0]["text"]) == []


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_of_the_product_fits_its_schemas_over_mcp(name: str) -> None:
    mcp = McpWorld()
    ref = mcp.vault("notes")
    for path, text in NOTES.items():
        mcp.write(ref, path, text)
    tools = {t["name"]: t for t in mcp.send(modern("tools/list")).json["result"]["tools"]}
    arguments = {"vault": "notes", **CHANGES[name]}
    if name == "restore_backup":
        overtaken = mcp.store.head(ref, VaultPath("b.md"))
        mcp.store.replace(ref, overtaken.path, b"theirs", expected=overtaken.etag)
        arguments["version"] = overtaken.version

    proposed = mcp.call_tool(f"propose_{name}", arguments)["structuredContent"]
    token = {"confirmation_token": proposed["confirmation_token"]}
    applied = mcp.call_tool(f"apply_{name}", token)

    jsonschema.validate(proposed, tools[f"propose_{name}"]["outputSchema"])
    jsonschema.validate(applied["structuredContent"], tools[f"apply_{name}"]["outputSchema"])
    assert not applied.get("isError", False)
