"""Prompts, and the completion of vault names and paths."""

from typing import Any

import pytest

from tests.entrypoints.mcp_messages import Json, legacy, modern
from tests.entrypoints.mcp_world import McpWorld, Send

EVERY_ERA = pytest.mark.parametrize("send", [legacy, modern])
PROMPTS: dict[str, Json] = {
    "summarize-directory": {"vault": "notes", "directory": "ideas"},
    "generate-note": {"vault": "notes", "topic": "tulips", "path": "ideas/tulips.md"},
    "find-related": {"vault": "notes", "path": "ideas/garden.md"},
}


@pytest.fixture
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.vault("Recettes d'été")
    world.write(notes, "ideas/garden.md", "Plant tulips.")
    world.write(notes, "ideas/Greenhouse plan.md", "Glass.")
    world.write(notes, "inbox.md", "Later.")
    return world


def get(world: McpWorld, name: str, arguments: Json, **how: Any) -> Json:  # noqa: ANN401
    send = how.pop("send", modern)
    return world.send(send("prompts/get", {"name": name, "arguments": arguments}), **how).json


def text_of(answer: Json) -> str:
    [message] = answer["result"]["messages"]
    return message["content"]["text"]


@EVERY_ERA
def test_three_prompts_are_listed_with_their_arguments(world: McpWorld, send: Send) -> None:
    prompts = world.send(send("prompts/list")).json["result"]["prompts"]

    assert {one["name"]: [a["name"] for a in one["arguments"]] for one in prompts} == {
        name: list(arguments) for name, arguments in PROMPTS.items()
    }
    assert all(one["title"] and one["description"] for one in prompts)


@EVERY_ERA
@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_names_what_it_was_given(world: McpWorld, send: Send, name: str) -> None:
    text = text_of(get(world, name, PROMPTS[name], send=send))

    assert all(value in text for value in PROMPTS[name].values())


def test_a_prompt_is_in_the_callers_language(world: McpWorld) -> None:
    french = get(
        world, "summarize-directory", {"vault": "notes"}, headers={"accept-language": "fr"}
    )

    assert text_of(french).startswith("Résume le répertoire / (sa racine) du coffre notes.")


def test_every_tool_that_a_prompt_names_exists(world: McpWorld) -> None:
    tools = {tool["name"] for tool in world.send(modern("tools/list")).json["result"]["tools"]}

    for name, arguments in PROMPTS.items():
        words = text_of(get(world, name, arguments)).replace(",", " ").replace(".", " ").split()
        named = {word.strip("()") for word in words if "_" in word}
        assert named
        assert named <= tools


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nope", {}),
        ("find-related", {"vault": "notes"}),
        ("find-related", {"vault": "notes", "path": "  "}),
        ("find-related", {"vault": "notes", "path": "a.md", "more": "x"}),
        ("find-related", {"vault": "notes", "path": "x" * 2_000}),
    ],
)
def test_a_prompt_that_does_not_fit_is_refused(world: McpWorld, name: str, arguments: Json) -> None:
    assert get(world, name, arguments)["error"]["code"] == -32602


def test_braces_and_line_breaks_in_an_argument_are_just_text(world: McpWorld) -> None:
    text = text_of(get(world, "generate-note", {"vault": "notes", "topic": "{vault}\n# {0}"}))

    assert "“{vault} # {0}”" in text


# ------------------------------------------------------------------------------- completion


def complete(
    world: McpWorld,
    name: str,
    value: str,
    known: Json | None = None,
    **how: Any,  # noqa: ANN401
) -> list[str]:
    prompt: Json = {"type": "ref/prompt", "name": how.pop("prompt", "summarize-directory")}
    ref = how.pop("ref", prompt)
    send = how.pop("send", modern)
    params: Json = {"ref": ref, "argument": {"name": name, "value": value}}
    if known:
        params["context"] = {"arguments": known}
    return world.send(send("completion/complete", params), **how).json["result"]["completion"][
        "values"
    ]


VAULT_TEMPLATE: Json = {"type": "ref/resource", "uri": "vault://{vault}"}
PATH_TEMPLATE: Json = {"type": "ref/resource", "uri": "vault://{vault}/{+path}"}


@EVERY_ERA
def test_vault_names_are_completed(world: McpWorld, send: Send) -> None:
    assert sorted(complete(world, "vault", "", send=send)) == ["Recettes d'été", "notes"]
    assert complete(world, "vault", "NO", send=send) == ["notes"]
    assert complete(world, "vault", "rec", ref=VAULT_TEMPLATE, send=send) == [
        "Recettes%20d%27%C3%A9t%C3%A9"
    ]


@EVERY_ERA
def test_paths_are_completed_level_by_level(world: McpWorld, send: Send) -> None:
    known = {"vault": "notes"}

    root = complete(world, "path", "i", known, prompt="find-related", send=send)
    below = complete(world, "path", "ideas/g", known, prompt="find-related", send=send)
    directories = complete(world, "directory", "i", known, send=send)
    address = complete(world, "path", "ideas/gr", known, ref=PATH_TEMPLATE, send=send)

    assert root == ["ideas/", "inbox.md"]
    assert sorted(below) == ["ideas/Greenhouse plan.md", "ideas/garden.md"]
    assert directories == ["ideas/"]
    assert address == ["ideas/Greenhouse%20plan.md"]


@pytest.mark.parametrize("known", [None, {"vault": ""}, {"vault": "gone"}])
def test_nothing_is_completed_without_a_vault_of_the_caller(
    world: McpWorld, known: Json | None
) -> None:
    assert complete(world, "path", "i", known, prompt="find-related") == []


@pytest.mark.parametrize("start", ["gone/x", "../x", "ideas//x", "x" * 5_000])
def test_a_path_that_leads_nowhere_has_no_completion(world: McpWorld, start: str) -> None:
    assert complete(world, "path", start, {"vault": "notes"}, prompt="find-related") == []


def test_others_complete_nothing_of_ours(world: McpWorld) -> None:
    assert complete(world, "vault", "", token="bob") == []
    assert complete(world, "path", "", {"vault": "notes"}, prompt="find-related", token="bob") == []


def test_at_most_a_hundred_values_are_told(world: McpWorld) -> None:
    many = world.vault("many")
    for number in range(150):
        world.write(many, f"{number:03}.md", "x")
    ref = {"type": "ref/prompt", "name": "find-related"}
    params: Json = {
        "ref": ref,
        "argument": {"name": "path", "value": ""},
        "context": {"arguments": {"vault": "many"}},
    }

    completion = world.send(modern("completion/complete", params)).json["result"]["completion"]

    assert len(completion["values"]) == 100
    assert completion["hasMore"] is True


@pytest.mark.parametrize(
    ("ref", "argument"),
    [
        ({"type": "ref/prompt", "name": "nope"}, "vault"),
        ({"type": "ref/prompt", "name": "find-related"}, "directory"),
        ({"type": "ref/resource", "uri": "vault://{vault}"}, "path"),
        ({"type": "ref/resource", "uri": "file:///{path}"}, "path"),
    ],
)
def test_what_does_not_exist_cannot_be_completed(world: McpWorld, ref: Json, argument: str) -> None:
    params: Json = {"ref": ref, "argument": {"name": argument, "value": ""}}

    assert world.send(modern("completion/complete", params)).json["error"]["code"] == -32602
