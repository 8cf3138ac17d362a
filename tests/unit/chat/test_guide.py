"""The chat guide says what the code does."""

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from archivolt.domain import stream
from archivolt.domain.limits import (
    MAX_CONTEXT_FILE_CHARS,
    MAX_CONTEXT_TOTAL_CHARS,
    MAX_IMAGE_BYTES,
    MAX_LOOP_STEPS,
    MAX_MESSAGE_IMAGES,
    MAX_TOOL_CALLS,
    MAX_TURN_SECONDS,
    STOP_LOOK_SECONDS,
    STOP_PATIENCE_SECONDS,
)
from archivolt.domain.messages import Language, message_for
from archivolt.domain.providers import PRESETS
from archivolt.entrypoints.http.chat_app import create_chat_app
from archivolt.entrypoints.http.conversation_bodies import Answer
from archivolt.entrypoints.http.message_bodies import MessageBody
from archivolt.governance.settings import SettingsChange
from archivolt.settings import Settings

GUIDE = (Path(__file__).parents[3] / "docs" / "chat-guide.md").read_text(encoding="utf-8")
NOT_ALWAYS = {"question", "stopped"}
EVENTS: dict[str, Any] = {event.event: event for event in get_args(stream.StreamEvent)}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def rows(header: str) -> list[list[str]]:
    table = GUIDE.partition(f"| {header} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]


def payload_fields(event: Any) -> set[str]:  # noqa: ANN401
    names = {field.name for field in fields(event)}
    return names | {"type"} if event is stream.ContentDelta else names


def test_the_table_names_every_event_and_its_fields() -> None:
    told = {row[0].strip("`"): re.sub(r"\([^)]*\)", "", row[1]) for row in rows("Event")}

    assert {name: set(re.findall(r"`(\w+)`", text)) for name, text in told.items()} == {
        name: payload_fields(event) for name, event in EVENTS.items()
    }


def test_the_example_of_a_stream_is_made_of_real_events() -> None:
    [example] = [block for block in blocks("text") if "message_start" in block]
    names: list[str] = []
    for block in example.strip().split("\n\n"):
        first, second = block.split("\n")
        names.append(first.removeprefix("event: "))
        told = json.loads(second.removeprefix("data: "))
        assert set(told) == payload_fields(EVENTS[names[-1]]) - NOT_ALWAYS

    assert names[0] == "message_start"
    assert names[-2:] == ["citations", "message_end"]


def test_the_example_of_a_notice_is_one_that_is_given() -> None:
    [data] = re.findall(r"^event: notice\ndata: (.*)$", GUIDE, re.MULTILINE)
    given = json.loads(data)

    assert given["message"] == message_for(given["code"], Language.EN, {"count": 3})


def test_the_examples_in_json_are_what_the_endpoints_take_and_give() -> None:
    message, answer, decision, settings = (json.loads(block) for block in blocks("json"))

    MessageBody.model_validate(message)
    MessageBody.model_validate(decision)
    Answer.model_validate(answer, extra="forbid")
    SettingsChange.model_validate(settings)
    assert set(answer) == set(Answer.model_fields)
    described = {"vault", "paths"}  # the short form of a context
    assert set(MessageBody.model_fields) - described == set(message) | set(decision)


def test_the_table_of_requests_is_the_applications() -> None:
    told = {tuple(row[0].strip("`").split(" ")) for row in rows("Request")}
    paths = create_chat_app(lambda: pytest.fail("no service is needed")).openapi()["paths"]

    assert told == {
        (method.upper(), path.replace("{conversation_id}", "{id}"))
        for path, operations in paths.items()
        for method in operations
        # Those of runs have a guide of their own.
        if not path.startswith("/api/v1/agent/")
    }


def test_the_commands_are_requests_that_the_application_takes() -> None:
    paths = create_chat_app(lambda: pytest.fail("no service is needed")).openapi()["paths"]
    commands = [shlex.split(block.replace("\\\n", " ")) for block in blocks("sh")]

    for command in commands:
        [address] = [word for word in command if word.startswith("$URL")]
        path = address.removeprefix("$URL").replace("$CONVERSATION", "{conversation_id}")
        method = "get" if not {"-d", "-X"} & set(command) else "post"
        assert method in paths[path], command
        if "-d" in command:
            MessageBody.model_validate_json(command[command.index("-d") + 1])
    assert len(commands) == 2


def test_the_limits_are_those_in_force() -> None:
    for sentence in (
        f"{MAX_CONTEXT_FILE_CHARS:,} characters of each, {MAX_CONTEXT_TOTAL_CHARS:,} in all",
        f"{MAX_LOOP_STEPS} steps, {MAX_TOOL_CALLS} tool calls",
        f"{MAX_TURN_SECONDS} seconds",
        f"in about {STOP_LOOK_SECONDS} second",
        f"after {STOP_PATIENCE_SECONDS} seconds",
        f"at most {MAX_MESSAGE_IMAGES} PNG",
        f"{MAX_IMAGE_BYTES:,} bytes each",
    ):
        assert sentence in GUIDE


def test_the_providers_and_their_settings_are_those_of_the_code() -> None:
    told = {
        row[0].strip("`"): [cell.strip("`") for cell in row[1:]] for row in rows("`chat_provider`")
    }
    needed = {"": "needed"}
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", GUIDE))

    assert {name: told[name] for name in PRESETS} == {
        name: [
            preset.base_url,
            needed.get(preset.model, preset.model),
            preset.wire_format.value,
            "none" if preset.keyless else "needed",
        ]
        for name, preset in PRESETS.items()
    }
    assert {name.lower() for name in named} <= set(Settings.model_fields)
