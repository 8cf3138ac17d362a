"""The guide's examples that need no running stack; the others are run by the end-to-end tests."""

import json
import re
import shlex
import tomllib
from typing import Any

import pytest

from archivolt.domain import limits
from archivolt.domain.messages import MESSAGES
from archivolt.domain.tool import Surface
from archivolt.entrypoints.http.token_routes import NewToken
from archivolt.governance.own_settings import OwnSettingsChange
from archivolt.tools.catalogue import native_tools
from archivolt.tools.labels import STEP_LABELS
from archivolt_local.cli import main
from tests.architecture.sources import ROOT
from tests.guide import MCP_GUIDE, example_with, examples

LOCAL_ADDRESS = "http://127.0.0.1:8080/mcp"


def settings_with(text: str) -> dict[str, Any]:
    return json.loads(example_with(MCP_GUIDE, "json", text))


def node_clients() -> dict[str, str]:
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    return package["devDependencies"]


def test_the_call_that_asks_for_ones_own_yes_is_one_the_route_takes() -> None:
    words = shlex.split(example_with(MCP_GUIDE, "sh", "/api/v1/me/settings").replace("\\\n", " "))

    assert words[:5] == ["curl", "-s", "-X", "PUT", "$ARCHIVOLT_URL/api/v1/me/settings"]
    wanted = OwnSettingsChange.model_validate_json(words[words.index("-d") + 1])
    assert wanted.human_confirmation is True


def test_the_call_that_makes_a_personal_token_is_one_the_route_takes() -> None:
    words = shlex.split(example_with(MCP_GUIDE, "sh", "/api/v1/tokens").replace("\\\n", " "))

    assert words[:3] == ["curl", "-s", "$ARCHIVOLT_URL/api/v1/tokens"]
    assert [words[at + 1] for at, word in enumerate(words) if word == "-H"] == [
        "Authorization: Bearer $ARCHIVOLT_TOKEN",
        "Content-Type: application/json",
    ]
    wanted = NewToken.model_validate_json(words[words.index("-d") + 1])
    assert (wanted.read_only, wanted.expires_in_days) == (True, 30)


def test_claude_code_is_given_address_and_token() -> None:
    words = shlex.split(example_with(MCP_GUIDE, "sh", "claude mcp add"))

    assert words[:6] == ["claude", "mcp", "add", "--transport", "http", "archivolt"]
    assert words[6:] == ["$ARCHIVOLT_URL/mcp", "--header", "Authorization: Bearer $ARCHIVOLT_TOKEN"]


def test_cursors_settings_read_the_token_from_the_environment() -> None:
    assert settings_with("${env:ARCHIVOLT_TOKEN}") == {
        "mcpServers": {
            "archivolt": {
                "url": LOCAL_ADDRESS,
                "headers": {"Authorization": "Bearer ${env:ARCHIVOLT_TOKEN}"},
            }
        }
    }


def test_vs_codes_settings_ask_for_the_token_they_use() -> None:
    settings = settings_with('"servers"')

    server, (asked,) = settings["servers"]["archivolt"], settings["inputs"]
    assert (server["type"], server["url"]) == ("http", LOCAL_ADDRESS)
    assert server["headers"]["Authorization"] == f"Bearer ${{input:{asked['id']}}}"
    assert (asked["type"], asked["password"]) == ("promptString", True)


def test_codex_reads_the_token_from_the_variable_it_is_told() -> None:
    [example] = examples(MCP_GUIDE, "toml")

    assert tomllib.loads(example.text) == {
        "mcp_servers": {
            "archivolt": {"url": LOCAL_ADDRESS, "bearer_token_env_var": "ARCHIVOLT_TOKEN"}
        }
    }
    words = shlex.split(example_with(MCP_GUIDE, "sh", "codex mcp add"))
    assert words == [
        *("codex", "mcp", "add", "archivolt", "--url", "$ARCHIVOLT_URL/mcp"),
        *("--bearer-token-env-var", "ARCHIVOLT_TOKEN"),
    ]


def test_programs_are_given_the_bridge_that_is_pinned_and_tested() -> None:
    server = settings_with("mcp-remote@")["mcpServers"]["archivolt"]

    assert server["command"] == "npx"
    assert server["args"] == [
        *("-y", f"mcp-remote@{node_clients()['mcp-remote']}", LOCAL_ADDRESS),
        *("--transport", "http-only"),
        *("--header", "Authorization:${ARCHIVOLT_AUTHORIZATION}"),
    ]
    assert server["env"] == {"ARCHIVOLT_AUTHORIZATION": "Bearer YOUR_TOKEN"}


@pytest.mark.parametrize(
    ("language", "text", "client"),
    [
        ("sh", "--method tools/list", "@modelcontextprotocol/inspector"),
        ("js", "StreamableHTTPClientTransport(", "@modelcontextprotocol/client"),
        ("json", "mcp-remote@", "mcp-remote"),
    ],
)
def test_every_node_client_of_the_guide_is_pinned(language: str, text: str, client: str) -> None:
    assert example_with(MCP_GUIDE, language, text)
    assert re.fullmatch(r"\d+\.\d+\.\d+", node_clients()[client])


def test_every_command_to_the_inspector_sends_address_and_token() -> None:
    texts = [example.text for example in examples(MCP_GUIDE, "sh")]
    commands = [shlex.split(text) for text in texts if text.startswith("mcp-inspector")]

    assert {words[words.index("--method") + 1] for words in commands} == {
        "tools/list",
        "tools/call",
        "resources/read",
    }
    for words in commands:
        assert words[1:3] == ["--cli", "$ARCHIVOLT_URL/mcp"]
        assert words[words.index("--header") + 1] == "Authorization: Bearer $ARCHIVOLT_TOKEN"


def test_an_example_that_names_a_variable_for_the_token_names_the_same() -> None:
    text = MCP_GUIDE.read_text(encoding="utf-8")

    assert set(re.findall(r"\b[A-Z]+_TOKEN\b", text)) == {"ARCHIVOLT_TOKEN", "YOUR_TOKEN"}


def test_the_guide_tells_of_the_sign_in_what_is_so(capsys: pytest.CaptureFixture[str]) -> None:
    text = MCP_GUIDE.read_text(encoding="utf-8")
    section = text[text.index("## claude.ai, ChatGPT") : text.index("## The inspector")]

    assert f"ends after {limits.OAUTH_GRANT_DAYS} days" in section
    assert limits.UNUSED_CLIENT_SECONDS == 86_400
    for line in example_with(MCP_GUIDE, "sh", "archivolt sign-in").splitlines():
        program, *words = shlex.split(line)
        # The command is known with these words, and fails for want of a stack alone.
        assert program == ".venv/bin/archivolt"
        assert main([*words, "--data", "/nowhere"]) == 1
        assert "No stack runs" in capsys.readouterr().err


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
