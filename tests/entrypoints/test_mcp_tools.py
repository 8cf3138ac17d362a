"""Our tools as an MCP client sees them."""

import json
import re
from typing import Any

import jsonschema
import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.tool import Surface
from archivolt.domain.vault import VaultRef
from archivolt.tools.catalogue import native_tools
from tests.builders import ALICE, principal
from tests.entrypoints.mcp_messages import legacy, modern
from tests.entrypoints.mcp_readings import untold
from tests.entrypoints.mcp_world import SECRET, McpWorld, Send

READ_TOOLS = [
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
    "run_check",
]
STEPS = ("propose_", "apply_")
EVERY_ERA = pytest.mark.parametrize("send", [legacy, modern])


@pytest.fixture
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "ideas/garden.md", "# Garden\nPlant tulips in October.")
    world.write(notes, "ideas/keys.md", f"the deploy key is {SECRET}")
    world.write(notes, "photo.png", b"\x89PNG\x00\x01")
    return world


def the_tools(world: McpWorld, send: Send = modern) -> list[dict[str, Any]]:
    return world.send(send("tools/list")).json["result"]["tools"]


def text_of(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


# --------------------------------------------------------------------------------- the list


@EVERY_ERA
def test_the_list_has_reads_by_name_and_changes_in_pairs_in_a_stable_order(
    world: McpWorld, send: Send
) -> None:
    names = [tool["name"] for tool in the_tools(world, send)]
    changes = [name for name in names if name.startswith(STEPS)]

    assert [name for name in names if name not in changes] == READ_TOOLS
    assert changes[1::2] == [name.replace("propose_", "apply_", 1) for name in changes[::2]]
    assert changes[::2] == [
        f"propose_{spec.name}"
        for spec in native_tools().specs(Surface.MCP)
        if spec.requires_confirmation
    ]


def test_the_list_is_the_same_for_everybody_and_may_be_kept(world: McpWorld) -> None:
    lists = [world.send(modern("tools/list"), token=who).json["result"] for who in ("alice", "bob")]

    assert lists[0] == lists[1]
    assert (lists[0]["ttlMs"], lists[0]["cacheScope"]) == (300_000, "public")
    assert "nextCursor" not in lists[0]


@EVERY_ERA
def test_a_cursor_that_was_never_given_out_is_invalid(world: McpWorld, send: Send) -> None:
    answer = world.send(send("tools/list", {"cursor": "2"}))

    assert answer.json["error"]["code"] == -32602


def test_every_tool_says_that_it_only_reads_but_the_one_that_applies(world: McpWorld) -> None:
    for tool in the_tools(world):
        applies = tool["name"].startswith("apply_")
        assert tool["annotations"]["readOnlyHint"] is not applies
        assert tool["annotations"]["openWorldHint"] is False
        assert applies or tool["annotations"]["destructiveHint"] is False
        assert tool["annotations"]["idempotentHint"] is not tool["name"].startswith("propose_")


def test_every_tool_has_a_title_and_a_description(world: McpWorld) -> None:
    titles = [tool["title"] for tool in the_tools(world)]

    assert titles[0] == "List vaults"
    assert titles[-1] == "Run check"
    assert all(len(tool["description"]) > 60 for tool in the_tools(world))


def test_names_fit_every_client_with_the_prefix_it_adds(world: McpWorld) -> None:
    for tool in the_tools(world):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,60}", f"mcp__archivolt__{tool['name']}")


def test_schemas_are_objects_that_refer_to_nothing(world: McpWorld) -> None:
    for tool in the_tools(world):
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert "$ref" not in json.dumps(schema)


# ------------------------------------------------------------------------------------ calls


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_vaults", {}),
    ("list_directory", {"vault": "notes"}),
    ("list_all_files", {"vault": "notes"}),
    ("read_file", {"vault": "notes", "path": "ideas/garden.md"}),
    ("read_file_raw", {"vault": "notes", "path": "photo.png"}),
    ("search_fulltext", {"q": "tulips"}),
    ("search_documents", {"q": "tulips"}),
]
MORE_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_backlinks", {"vault": "notes", "path": "ideas/garden.md"}),
    ("list_backups", {"vault": "notes", "path": "ideas/garden.md"}),
    ("get_graph", {"vault": "notes"}),
    ("search_advanced", {"q": "tulips"}),
    ("search_paths", {"q": "garden"}),
    ("list_tags", {"vault": "notes"}),
    ("suggest_tags", {"q": "a", "vault": "notes"}),
    ("list_recent", {"vault": "notes"}),
    ("sync_documents", {}),
    ("run_check", {"path": "a.py", "content": "x = ("}),
]


@EVERY_ERA
@pytest.mark.parametrize(("tool", "arguments"), CALLS + MORE_CALLS)
def test_a_result_is_structured_by_its_schema_and_readable(
    world: McpWorld, send: Send, tool: str, arguments: dict[str, Any]
) -> None:
    schemas = {tool["name"]: tool["outputSchema"] for tool in the_tools(world, send)}

    result = world.call_tool(tool, arguments, send=send)

    jsonschema.validate(result["structuredContent"], schemas[tool])
    assert untold(result["structuredContent"], text_of(result)) == []
    assert not text_of(result).startswith("{")
    assert not result.get("isError", False)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_all_files", {"vault": "many"}),
        ("list_directory", {"vault": "many"}),
        ("read_file", {"vault": "many", "path": "long.md"}),
        ("read_file_raw", {"vault": "many", "path": "long.md"}),
        ("search_fulltext", {"q": "onion", "limit": 100}),
        ("search_documents", {"q": "onion", "top_k": 50}),
    ],
)
def test_a_result_that_was_cut_still_fits_its_schema(
    world: McpWorld, tool: str, arguments: dict[str, Any]
) -> None:
    many = world.vault("many")
    world.write(many, "long.md", b"leek\n" * 10_000)
    for number in range(200):
        world.write(many, f"{number:03}-{'name' * 20}.md", "onion " * 50)
    schemas = {tool["name"]: tool["outputSchema"] for tool in the_tools(world)}

    result = world.call_tool(tool, arguments)

    jsonschema.validate(result["structuredContent"], schemas[tool])
    assert len(text_of(result)) <= 8_000
    assert "offset" in text_of(result) or "after" in text_of(result) or "cut" in text_of(result)


def test_secrets_do_not_leave(world: McpWorld) -> None:
    read = world.call_tool("read_file", {"vault": "notes", "path": "ideas/keys.md"})
    found = world.call_tool("search_documents", {"q": "deploy key"})

    assert "[redacted:" in read["structuredContent"]["content"]
    assert found["structuredContent"]["hits"]
    assert SECRET not in json.dumps([read, found])


def test_a_call_is_recorded_with_its_door(world: McpWorld) -> None:
    world.call_tool("read_file", {"vault": "notes", "path": "ideas/garden.md"})

    entry = world.audit.entries[-1]
    assert (entry.action, entry.surface, entry.outcome) == ("read_file", "mcp", "ok")
    assert (entry.principal, entry.vault, entry.path) == (
        principal(ALICE),
        "notes",
        "ideas/garden.md",
    )


# -------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("tool", "arguments", "field", "length"),
    [
        ("list_all_files", {"vault": "notes", "limit": "2"}, "files", 2),
        ("list_all_files", {"vault": "notes", "limit": 2.0}, "files", 2),
        ("list_all_files", {"vault": "notes", "recursive": "false"}, "files", 1),
        ("list_all_files", {"vault": "notes", "recursive": "true", "after": ""}, "files", 3),
        ("list_all_files", {"vault": "notes", "after": None}, "files", 3),
        ("search_documents", {"q": "tulips", "top_k": "1", "explain": "true"}, "hits", 1),
        ("search_documents", {"q": "tulips", "vault": None, "path": ""}, "hits", 1),
    ],
)
def test_numbers_and_booleans_written_as_text_are_understood(
    world: McpWorld, tool: str, arguments: dict[str, Any], field: str, length: int
) -> None:
    result = world.call_tool(tool, arguments)

    assert len(result["structuredContent"][field]) == length


@pytest.mark.parametrize("q", ["[1,2]", '{"a": 1}', "true", "7"])
def test_a_text_stays_the_text_it_was(world: McpWorld, q: str) -> None:
    world.write(world.vault("odd"), "odd.md", f"start {q} end")

    hits = world.call_tool("search_documents", {"q": q, "vault": "odd"})["structuredContent"][
        "hits"
    ]

    assert [hit["path"] for hit in hits] == ["odd.md"]


def test_no_arguments_at_all_are_no_arguments(world: McpWorld) -> None:
    answer = world.send(legacy("tools/call", {"name": "list_vaults"}))

    assert answer.json["result"]["structuredContent"]["vaults"][0]["name"] == "notes"


# ----------------------------------------------------------------------------------- errors


@EVERY_ERA
@pytest.mark.parametrize("name", ["nope", "", "web_search", "delete_file", "x" * 10_000])
def test_an_unknown_tool_is_a_protocol_error(world: McpWorld, send: Send, name: str) -> None:
    answer = world.send(send("tools/call", {"name": name, "arguments": {}}))

    assert answer.json["error"]["code"] == -32602
    assert len(answer.body) < 1_000


FAILURES: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"vault": "notes", "path": "no.md"}, "file_not_found: "),
    ("read_file", {"vault": "other", "path": "no.md"}, "vault_not_found: "),
    ("read_file", {"vault": "notes", "path": "../x"}, "invalid_path: "),
    ("read_file", {"vault": "notes", "path": "photo.png"}, "file_not_text: "),
    ("read_file", {"vault": "notes"}, "invalid_arguments: "),
    ("read_file", {"vault": "notes", "path": "a", "x": 1}, "invalid_arguments: "),
    ("list_all_files", {"vault": "notes", "limit": "many"}, "invalid_arguments: "),
]


@EVERY_ERA
@pytest.mark.parametrize(("tool", "arguments", "start"), FAILURES)
def test_a_tools_error_is_text_with_a_code_and_no_structure(
    world: McpWorld, send: Send, tool: str, arguments: dict[str, Any], start: str
) -> None:
    result = world.call_tool(tool, arguments, send=send)

    assert result["isError"] is True
    assert text_of(result).startswith(start)
    assert "structuredContent" not in result


def test_an_error_is_told_in_the_callers_language(world: McpWorld) -> None:
    arguments = {"vault": "autre", "path": "a.md"}

    result = world.call_tool("read_file", arguments, headers={"accept-language": "fr-CA,en;q=0.1"})

    assert text_of(result).startswith("vault_not_found: Aucun coffre autre")


def test_too_many_calls_are_refused_with_the_time_to_wait() -> None:
    world = McpWorld(per_tool=1)
    call = modern("tools/call", {"name": "list_vaults", "arguments": {}})
    assert "retry-after" not in world.send(call).headers

    answer = world.send(call)

    result = answer.json["result"]
    assert answer.status == 200
    assert answer.headers["retry-after"] in text_of(result)
    assert result["isError"] is True
    assert re.match(r"rate_limited: Too many calls; retry in \d+ seconds\.", text_of(result))


@EVERY_ERA
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("list_directory", {"vault": "notes"}), ("read_file", {"vault": "notes", "path": "a.md"})],
)
def test_an_unexpected_failure_tells_nothing_of_its_reason(
    world: McpWorld,
    send: Send,
    tool: str,
    arguments: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    world.break_files(KeyError("secret reason"))

    answer = world.send(send("tools/call", {"name": tool, "arguments": arguments}))

    assert answer.status == 200
    assert answer.json["error"] == {"code": -32603, "message": "Internal error"}
    logged = [vars(record) for record in caplog.records]
    assert [record["error_type"] for record in logged] == ["KeyError"]
    assert "secret reason" not in repr(logged)


def test_a_service_that_is_down_is_told_as_a_tools_error(world: McpWorld) -> None:
    world.break_files(UnavailableError("unavailable"))

    result = world.call_tool("list_directory", {"vault": "notes"})

    assert text_of(result).startswith("unavailable: ")


# -------------------------------------------------------------------------------- isolation


@EVERY_ERA
@pytest.mark.parametrize("token", ["bob", "carol"])
def test_nobody_sees_the_vaults_of_others(world: McpWorld, send: Send, token: str) -> None:
    outputs = [world.call_tool(*call, send=send, token=token) for call in CALLS]

    vaults, *listings, fulltext, passages = outputs
    assert vaults["structuredContent"]["vaults"] == []
    assert fulltext["structuredContent"]["hits"] == []
    assert passages["structuredContent"]["hits"] == []
    assert all(text_of(listing).startswith("vault_not_found: ") for listing in listings)


@pytest.mark.parametrize(
    ("tool", "arguments"), [call for call in CALLS + MORE_CALLS if "vault" in call[1]]
)
def test_a_foreign_vault_and_a_missing_one_look_the_same(
    world: McpWorld, tool: str, arguments: dict[str, Any]
) -> None:
    foreign = world.call_tool(tool, arguments, token="bob")
    missing = world.call_tool(tool, {**arguments, "vault": "gone"}, token="bob")

    assert text_of(foreign).replace("notes", "gone") == text_of(missing)


def test_two_tenants_may_have_vaults_of_the_same_name(world: McpWorld) -> None:
    theirs = world.vault("notes", owner=world.tokens.verify("carol"))
    world.write(theirs, "ours.md", "Carol plants tulips too.")

    mine = world.call_tool("search_documents", {"q": "tulips"})["structuredContent"]["hits"]
    hers = world.call_tool("search_documents", {"q": "tulips"}, token="carol")

    assert [hit["path"] for hit in mine] == ["ideas/garden.md"]
    assert [hit["path"] for hit in hers["structuredContent"]["hits"]] == ["ours.md"]
    assert isinstance(theirs, VaultRef)
