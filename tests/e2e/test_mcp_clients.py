"""Real MCP clients against the running stack: list the tools, search, read what was found."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextResourceContents

from tests.e2e.stack import Stack, wait_until
from tests.guide import MCP_GUIDE, example_with, examples

ROOT = Path(__file__).parents[2]
NODE_PROGRAMS = ROOT / "node_modules" / ".bin"
CLIENTS = Path(__file__).parent / "clients"
QUESTION = "When are the marmots counted?"
TEXT = "# Marmots\n\nThe marmots of the valley are counted in the second week of June.\n"
READ_TOOLS = {"list_vaults", "read_file", "search_documents"}

needs_node = pytest.mark.skipif(
    not (NODE_PROGRAMS / "node").exists(), reason="the Node clients are not installed"
)


@pytest.fixture(scope="module")
def address(stack: Stack) -> str:
    """The address of a document that every client finds."""
    with stack.client() as http:
        vault = {"name": "mcp-clients"}
        assert http.post("/api/v1/vaults", json=vault).status_code == 201
        file = {"path": "animals/marmots.md", "content": TEXT}
        assert http.post("/api/v1/file/mcp-clients", json=file).status_code == 201
    wait_until(lambda: found(stack) is not None)
    return "vault://mcp-clients/animals/marmots.md"


def found(stack: Stack) -> str | None:
    hits = stack.search(QUESTION, vault="mcp-clients")
    return hits[0]["uri"] if hits else None


def environment(stack: Stack, address: str) -> dict[str, str]:
    """What the guide's examples take from the environment."""
    return {
        "PATH": f"{NODE_PROGRAMS}{os.pathsep}{os.defpath}",
        "HOME": str(stack.root),
        "ARCHIVOLT_URL": stack.url,
        "ARCHIVOLT_TOKEN": stack.token(),
        "QUESTION": QUESTION,
        "ADDRESS": address,
    }


def output_of(command: list[str], variables: dict[str, str]) -> str:
    done = subprocess.run(
        command, env=variables, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ----------------------------------------------------------------------------- from Python


@asynccontextmanager
async def connected(
    stack: Stack, mode: Literal["auto", "legacy"], token: str
) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{stack.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.anyio
@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
@pytest.mark.parametrize("audience", ["archivolt", "{url}/mcp"])
async def test_the_official_python_client(
    stack: Stack, address: str, mode: Literal["auto", "legacy"], version: str, audience: str
) -> None:
    token = stack.token(audience=audience.format(url=stack.url))

    async with connected(stack, mode, token) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("search_documents", {"q": QUESTION})
        read = await client.read_resource(address)
        resources = await client.list_resources()
        assert client.protocol_version == version

    assert tools >= READ_TOOLS
    assert result.structured_content is not None
    assert address in [hit["uri"].partition("#")[0] for hit in result.structured_content["hits"]]
    assert isinstance(read.contents[0], TextResourceContents)
    assert read.contents[0].text == TEXT
    assert "vault://mcp-clients" in [resource.uri for resource in resources.resources]


def test_the_guides_python_example(stack: Stack, address: str) -> None:
    [example] = examples(MCP_GUIDE, "python")

    printed = output_of([sys.executable, "-c", example.text], environment(stack, address))

    assert "search_documents" in printed.splitlines()[0]
    assert TEXT in printed


# ------------------------------------------------------------------------- from TypeScript


@needs_node
@pytest.mark.parametrize(
    ("client", "version"), [("sdk_v1.mjs", "2025-11-25"), ("sdk_v2.mjs", "2026-07-28")]
)
def test_the_official_typescript_clients(
    stack: Stack, address: str, client: str, version: str
) -> None:
    command = ["node", str(CLIENTS / client), f"{stack.url}/mcp", stack.token(), QUESTION]

    walked: dict[str, Any] = json.loads(output_of(command, environment(stack, address)))

    assert walked["version"] == version
    assert set(walked["tools"]) >= READ_TOOLS
    assert walked["hits"][0]["uri"].partition("#")[0] == address
    assert walked["contents"][0]["text"] == TEXT


@needs_node
def test_the_guides_typescript_example(stack: Stack, address: str) -> None:
    [example] = examples(MCP_GUIDE, "js")

    printed = output_of(
        ["node", "--input-type=module", "--eval", example.text], environment(stack, address)
    )

    assert "'search_documents'" in printed
    assert TEXT in printed


# ------------------------------------------------------------ by a program that passes on


@needs_node
@pytest.mark.anyio
async def test_the_guides_settings_for_clients_that_only_start_programs(
    stack: Stack, address: str
) -> None:
    settings = json.loads(example_with(MCP_GUIDE, "json", "mcp-remote@"))
    server = settings["mcpServers"]["archivolt"]
    given = [stack.url + "/mcp" if "://" in word else word for word in server["args"][2:]]
    token = {
        name: text.replace("YOUR_TOKEN", stack.token()) for name, text in server["env"].items()
    }
    bridge = StdioServerParameters(
        command=str(NODE_PROGRAMS / "mcp-remote"),
        args=given,
        env=environment(stack, address) | token,
    )

    async with Client(stdio_client(bridge), mode="legacy") as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        [read] = (await client.read_resource(address)).contents

    assert tools >= READ_TOOLS
    assert isinstance(read, TextResourceContents)
    assert read.text == TEXT


# ---------------------------------------------------------------------- with the inspector


def inspector_examples() -> list[str]:
    """The guide's commands, without the one that installs."""
    texts = [example.text for example in examples(MCP_GUIDE, "sh")]
    return [text for text in texts if text.startswith("mcp-inspector")]


@needs_node
def test_the_guides_inspector_commands(stack: Stack, address: str) -> None:
    listed, called, read = (
        json.loads(output_of(["bash", "-c", command], environment(stack, address)))
        for command in inspector_examples()
    )

    assert {tool["name"] for tool in listed["tools"]} >= READ_TOOLS
    assert called["structuredContent"]["hits"][0]["uri"].partition("#")[0] == address
    assert read["contents"][0]["text"] == TEXT


@needs_node
@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_the_inspector_finds_nothing_wrong_with_the_tools(
    stack: Stack, address: str, era: str
) -> None:
    command = [
        *("mcp-inspector", "--cli", f"{stack.url}/mcp", "--method", "tools/list", "--strict"),
        *("--header", f"Authorization: Bearer {stack.token()}"),
        *("--protocol-era", era, "--format", "json", "-q"),
    ]

    listed = json.loads(output_of(command, environment(stack, address)))

    assert {tool["name"] for tool in listed["result"]["tools"]} >= READ_TOOLS
