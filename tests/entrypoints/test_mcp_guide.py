"""The guide's examples that need no running stack; the others are run by the end-to-end tests."""

import json
import re
import shlex
from typing import Any

from archivolt.domain import limits
from archivolt.domain.messages import MESSAGES
from archivolt.domain.tool import Surface
from archivolt.tools.catalogue import native_tools
from archivolt.tools.labels import STEP_LABELS
from tests.guide import MCP_GUIDE, example_with, examples

LOCAL_ADDRESS = "http://127.0.0.1:8080/mcp"


def settings_with(key: str) -> dict[str, Any]:
    return json.loads(example_with(MCP_GUIDE, "json", f'"{key}"'))


def test_claude_code_is_given_address_and_token() -> None:
    words = shlex.split(example_with(MCP_GUIDE, "sh", "claude mcp add"))

    assert words[:6] == ["claude", "mcp", "add", "--transport", "http", "archivolt"]
    assert words[6:] == ["$ARCHIVOLT_URL/mcp", "--header", "Authorization: Bearer $ARCHIVOLT_TOKEN"]


def test_cursors_settings_read_the_token_from_the_environment() -> None:
    assert settings_with("mcpServers") == {
        "mcpServers": {
            "archivolt": {
                "url": LOCAL_ADDRESS,
                "headers": {"Authorization": "Bearer ${env:ARCHIVOLT_TOKEN}"},
            }
        }
    }


def test_vs_codes_settings_ask_for_the_token_they_use() -> None:
    settings = settings_with("servers")

    server, (asked,) = settings["servers"]["archivolt"], settings["inputs"]
    assert (server["type"], server["url"]) == ("http", LOCAL_ADDRESS)
    assert server["headers"]["Authorization"] == f"Bearer ${{input:{asked['id']}}}"
    assert (asked["type"], asked["password"]) == ("promptString", True)


def test_a_variable_that_an_example_uses_is_one_the_guide_sets_or_explains() -> None:
    commands = "\n".join(example.text for example in examples(MCP_GUIDE, "sh"))

    used = set(re.findall(r"\$([A-Z_]+)", commands))
    explained = {"PATH", "PWD", "QUESTION", "ADDRESS"}
    assert used - explained == set(re.findall(r"export ([A-Z_]+)=", commands)) - {"PATH"}


def tools_named_in(section: str, end: str) -> set[str]:
    text = MCP_GUIDE.read_text(encoding="utf-8")
    table = text[text.index(section) : text.index(end)]
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", table))
    return {name for name in named if f"ai.step.{name}" in STEP_LABELS}


def test_the_guide_names_every_tool_and_no_other() -> None:
    reads = tools_named_in("## What is there", "## Changes, in two steps")
    changes = tools_named_in("## Changes, in two steps", "## When it does not connect")
    specs = native_tools().specs(Surface.MCP)

    assert {spec.name for spec in specs if not spec.requires_confirmation} == reads
    assert {spec.name for spec in specs if spec.requires_confirmation} == changes


def test_the_guides_two_steps_are_those_of_the_endpoint() -> None:
    text = MCP_GUIDE.read_text(encoding="utf-8")

    steps = set(re.findall(r"`(?:propose|apply)_(\w+)`", text))
    assert all(f"ai.step.{name}" in STEP_LABELS for name in steps)
    assert limits.CONFIRMATION_SECONDS == 600
    assert "lives ten minutes" in text
    codes = re.findall(r"`((?:confirmation|operation)_[a-z]+)`", text)
    assert set(codes) - {"confirmation_token"} <= MESSAGES.keys()


def test_the_guides_numbers_are_the_limits() -> None:
    text = MCP_GUIDE.read_text(encoding="utf-8")

    assert f"up to {limits.MAX_RESOURCE_BYTES:,} bytes" in text
    assert f"at most {limits.MAX_TOOL_RESULT_CHARS:,} characters" in text
    assert f"{limits.MAX_CALLS_PER_TOKEN} calls a minute, {limits.MAX_CALLS_PER_TOOL} of" in text
