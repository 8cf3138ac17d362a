"""What MCP clients in the field send and need, a row each: arguments, schemas, headers, bodies."""

import base64
import re
from typing import Any

import jsonschema
import pytest

from tests.entrypoints.mcp_messages import MODERN, Json, legacy, modern
from tests.entrypoints.mcp_readings import untold
from tests.entrypoints.mcp_world import McpWorld, Send

EVERY_ERA = pytest.mark.parametrize("send", [legacy, modern])
FORMS = "io.modelcontextprotocol/clientCapabilities"
# The longest prefix that a client adds is taken to be this long: mcp__archivolt__.
PREFIX = "mcp__archivolt__"


@pytest.fixture
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "ideas/garden.md", "Plant tulips.")
    world.write(notes, "ideas/trees.md", "Plant tulips under oaks.")
    world.write(notes, "log.txt", "Planted tulips.")
    world.write(notes, "old/plan.md", "Buy bulbs.")
    return world


def the_tools(world: McpWorld) -> dict[str, Json]:
    listed = world.send(modern("tools/list")).json["result"]["tools"]
    return {tool["name"]: tool for tool in listed}


def text_of(result: Json) -> str:
    return result["content"][0]["text"]


def content_of(world: McpWorld, path: str) -> str:
    return world.call_tool("read_file", {"vault": "notes", "path": path})["structuredContent"][
        "content"
    ]


# -------------------------------------------------------------------------------- arguments


@EVERY_ERA
@pytest.mark.parametrize(
    ("more", "paths"),
    [
        ({"include_paths": '["ideas/"]'}, ["ideas/garden.md", "ideas/trees.md"]),
        ({"include_paths": ' ["ideas/garden.md", "log.txt"] '}, ["ideas/garden.md", "log.txt"]),
        ({"exclude_paths": '["*.md"]', "limit": "5"}, ["log.txt"]),
        ({"exclude_paths": "[]"}, ["ideas/garden.md", "ideas/trees.md", "log.txt"]),
        ({"include_paths": "ideas/"}, ["ideas/garden.md", "ideas/trees.md"]),
        ({"include_paths": None}, ["ideas/garden.md", "ideas/trees.md", "log.txt"]),
    ],
)
def test_a_list_written_as_text_is_read_where_a_list_is_wanted(
    world: McpWorld, send: Send, more: Json, paths: list[str]
) -> None:
    result = world.call_tool("search_advanced", {"q": "tulips", **more}, send=send)

    assert sorted(hit["path"] for hit in result["structuredContent"]["hits"]) == paths


@pytest.mark.parametrize("text", ["[[]]", '[{"a": 1}]', "[true]", "[null]"])
def test_a_list_of_anything_but_texts_is_refused_where_texts_are_wanted(
    world: McpWorld, text: str
) -> None:
    result = world.call_tool("search_advanced", {"q": "tulips", "include_paths": text})

    assert result["isError"] is True
    assert text_of(result).startswith("invalid_arguments: ")
    assert "include_paths" in text_of(result)


@EVERY_ERA
@pytest.mark.parametrize("content", ["[1,2]", '{"a": 1}', "true", "7", "null", '"quoted"', " "])
def test_a_content_that_looks_like_json_is_written_as_it_is(
    world: McpWorld, send: Send, content: str
) -> None:
    arguments = {"vault": "notes", "path": "log.txt", "content": content}
    proposed = world.call_tool("propose_append_to_file", arguments, send=send)
    token = proposed["structuredContent"]["confirmation_token"]

    world.call_tool("apply_append_to_file", {"confirmation_token": token}, send=send)

    assert content_of(world, "log.txt") == f"Planted tulips.\n{content}"


@pytest.mark.parametrize("recursive", ["true", True])
def test_a_flag_written_as_text_reaches_the_change(world: McpWorld, recursive: object) -> None:
    arguments = {"vault": "notes", "path": "ideas", "recursive": recursive}
    proposed = world.call_tool("propose_delete_directory", arguments)
    token = proposed["structuredContent"]["confirmation_token"]

    made = world.call_tool("apply_delete_directory", {"confirmation_token": token})

    assert made["structuredContent"]["deleted"] == 2


@EVERY_ERA
@pytest.mark.parametrize("token", [["x"], [], {"a": 1}, {}, 7, True, "[1]", "x.y.z"])
def test_a_token_of_any_form_that_is_none_of_ours_is_a_tools_error(
    world: McpWorld, send: Send, token: object
) -> None:
    result = world.call_tool("apply_delete_file", {"confirmation_token": token}, send=send)

    assert result["isError"] is True
    assert re.match(r"(invalid_arguments|confirmation_invalid): ", text_of(result))
    assert "structuredContent" not in result


# ---------------------------------------------------------------------------------- schemas


CHANGES: list[tuple[str, Json]] = [
    ("create_file", {"path": "new.md", "content": "New."}),
    ("create_directory", {"path": "plans"}),
    ("edit_file", {"path": "log.txt", "content": "Nothing."}),
    ("append_to_file", {"path": "log.txt", "content": "More."}),
    ("restore_backup", {"path": "log.txt"}),
    ("rename_file", {"path": "log.txt", "new_name": "diary.txt"}),
    ("rename_directory", {"path": "old", "new_name": "older"}),
    ("move_path", {"source_path": "log.txt", "destination_dir": "old"}),
    ("replace_in_files", {"find": "tulips", "replace": "roses"}),
    ("delete_file", {"path": "log.txt"}),
    ("delete_directory", {"path": "old", "recursive": True}),
]


def a_backup(world: McpWorld, path: str) -> str:
    """Return the version that an edit left behind."""
    edit = {"vault": "notes", "path": path, "content": "Edited."}
    proposed = world.call_tool("propose_edit_file", edit)["structuredContent"]
    token = proposed["confirmation_token"]
    world.call_tool("apply_edit_file", {"confirmation_token": token})
    backups = world.call_tool("list_backups", {"vault": "notes", "path": path})
    return backups["structuredContent"]["backups"][-1]["version"]


def ask_inline(world: McpWorld, tool: str, arguments: Json, **rounds: Any) -> Json:  # noqa: ANN401
    """Return the result of `apply_<tool>`, called by a client that shows forms."""
    sent = modern("tools/call", {"name": f"apply_{tool}", "arguments": arguments, **rounds})
    sent.body["params"]["_meta"][FORMS] = {"elicitation": {}}
    return world.send(sent).json["result"]


@pytest.mark.parametrize(("tool", "more"), CHANGES)
@pytest.mark.parametrize(
    ("answer", "declined"),
    [
        ({"action": "decline"}, True),
        ({"action": "accept", "content": {"confirm": True}}, False),
    ],
)
def test_what_every_change_answers_fits_its_schema_declined_or_made(
    world: McpWorld, tool: str, more: Json, answer: Json, *, declined: bool
) -> None:
    schema = the_tools(world)[f"apply_{tool}"]["outputSchema"]
    arguments = {"vault": "notes", **more}
    if tool == "restore_backup":
        arguments["version"] = a_backup(world, "log.txt")
    asked = ask_inline(world, tool, arguments)

    result = ask_inline(
        world,
        tool,
        arguments,
        inputResponses={"confirm": answer},
        requestState=asked["requestState"],
    )

    jsonschema.validate(result["structuredContent"], schema)
    assert (result["structuredContent"] == {"status": "declined"}) is declined
    assert untold(result["structuredContent"], text_of(result)) == []
    assert not text_of(result).startswith("{")


def test_every_change_can_be_declined_by_its_schema_and_is_never_empty(world: McpWorld) -> None:
    applying = {name: tool for name, tool in the_tools(world).items() if name.startswith("apply_")}

    assert set(applying) == {f"apply_{tool}" for tool, _ in CHANGES}
    for tool in applying.values():
        jsonschema.validate({"status": "declined"}, tool["outputSchema"])
        for wrong in ({}, {"status": "done"}, "declined"):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(wrong, tool["outputSchema"])


def test_schemas_have_the_form_that_the_first_typescript_client_parses(world: McpWorld) -> None:
    """It takes a root that is an object, properties that are objects, and a list of names."""
    for tool in the_tools(world).values():
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            assert schema["type"] == "object"
            assert all(type(one) is dict for one in schema["properties"].values())
            assert type(schema.get("required", [])) is list
            assert set(schema.get("required", [])) <= set(schema["properties"])


def test_no_input_schema_has_alternatives_at_its_root(world: McpWorld) -> None:
    for tool in the_tools(world).values():
        assert not {"anyOf", "oneOf", "allOf", "not", "enum"} & set(tool["inputSchema"])


def test_names_with_a_clients_prefix_are_distinct_and_at_most_sixty_long(world: McpWorld) -> None:
    names = [f"{PREFIX}{name}" for name in the_tools(world)]

    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name) for name in names)


@EVERY_ERA
@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("propose_delete_file", {"path": "gone.md"}),
        ("propose_delete_file", {}),
        ("apply_delete_file", {"path": "log.txt"}),
        ("apply_delete_file", {}),
    ],
)
def test_a_failed_step_of_a_change_is_readable_and_has_no_structure(
    world: McpWorld, send: Send, tool: str, more: Json
) -> None:
    result = world.call_tool(tool, {"vault": "notes", **more}, send=send)

    assert result["isError"] is True
    assert re.match(r"[a-z_]+: \S", text_of(result))
    assert "structuredContent" not in result


# ---------------------------------------------------------------------------------- headers


@EVERY_ERA
@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json, text/event-stream", "application/json"),
        ("text/event-stream, application/json;q=0.9", "application/json"),
        ("TEXT/EVENT-STREAM, APPLICATION/JSON", "application/json"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("Text/Event-Stream; charset=utf-8", "text/event-stream"),
    ],
)
def test_whatever_a_client_takes_it_is_answered(
    world: McpWorld, send: Send, accept: str, kind: str
) -> None:
    answer = world.send(send("tools/list"), {"accept": accept})

    assert answer.status == 200
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert b"search_documents" in answer.body


@EVERY_ERA
@pytest.mark.parametrize(
    ("path", "extra"),
    [
        ("/mcp/", {}),
        ("/mcp", {"mcp-session-id": "of-another-process"}),
        ("/mcp/", {"mcp-session-id": ""}),
        ("/mcp", {"last-event-id": "41"}),
        ("/mcp/", {"host": "vault.example.org:8443"}),
    ],
)
def test_what_an_older_or_redirected_client_adds_does_no_harm(
    world: McpWorld, send: Send, path: str, extra: dict[str, str]
) -> None:
    answer = world.send(send("tools/call", {"name": "list_vaults"}), extra, path=path)

    assert answer.status == 200
    assert answer.json["result"]["structuredContent"]["vaults"][0]["name"] == "notes"
    assert not {"mcp-session-id", "location"} & {name.lower() for name in answer.headers}


def encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("vault://notes/log.txt", 200),
        (encoded("vault://notes/log.txt"), 200),
        (encoded("vault://notes/other.txt"), 400),
        ("=?base64?!!?=", 400),
        ("=?base64??=", 400),
        ("", 400),
    ],
)
def test_a_name_in_a_header_must_be_that_of_the_body_encoded_or_not(
    world: McpWorld, header: str, status: int
) -> None:
    sent = modern("resources/read", {"uri": "vault://notes/log.txt"})
    sent.headers["mcp-name"] = header

    answer = world.send(sent)

    assert answer.status == status
    assert answer.json.get("error", {"code": -32020})["code"] == -32020


@EVERY_ERA
@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
@pytest.mark.parametrize("token", ["alice", None])
def test_a_strangers_page_is_refused_with_a_token_and_without(
    world: McpWorld, send: Send, origin: str, token: str | None
) -> None:
    answer = world.send(send("tools/list"), {"origin": origin}, token=token)

    assert answer.status == 403


# ----------------------------------------------------------------------------------- bodies


@EVERY_ERA
@pytest.mark.parametrize("as_binary", [False, True])
def test_a_body_over_the_limit_is_refused_in_every_era(
    world: McpWorld, send: Send, *, as_binary: bool
) -> None:
    sent = send("tools/call", {"name": "read_file", "arguments": {"x": "x" * 6_000_000}})

    assert world.send(sent, as_binary=as_binary).status == 413


@pytest.mark.parametrize(
    "method", ["tools/list", "resources/list", "prompts/list", "server/discover"]
)
def test_no_stateless_body_passes_without_its_version_header(world: McpWorld, method: str) -> None:
    sent = modern(method)
    assert sent.headers.pop("mcp-protocol-version") == MODERN

    answer = world.send(sent)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)
