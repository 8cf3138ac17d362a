"""The official Python client against the endpoint, in both eras."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import BlobResourceContents, TextContent, TextResourceContents
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.entrypoints.mcp.app import create_app
from tests.builders import ALICE
from tests.entrypoints.mcp_world import McpWorld

pytestmark = pytest.mark.anyio

Mode = Literal["auto", "legacy", "2026-07-28"]
VERSIONS: list[tuple[Mode, str]] = [
    ("auto", "2026-07-28"),
    ("2026-07-28", "2026-07-28"),
    ("legacy", "2025-11-25"),
]
EVERY_MODE = pytest.mark.parametrize(("mode", "version"), VERSIONS)


class AlternatingApps:
    """Two processes behind one address; no two requests in a row reach the same."""

    def __init__(self, world: McpWorld) -> None:
        self._apps: list[ASGIApp] = [create_app(world.services()) for _ in range(2)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._apps.reverse()
        await self._apps[0](scope, receive, send)


@pytest.fixture
def world() -> McpWorld:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "garden.md", "Plant tulips in October.")
    world.write(notes, "заметка.md", "привет")
    world.write(notes, "photo.png", b"\x89PNG\x00")
    return world


@asynccontextmanager
async def connected(
    world: McpWorld, mode: Mode, version: str, token: str = ALICE
) -> AsyncGenerator[Client]:
    transport = httpx2.ASGITransport(app=AlternatingApps(world))
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        Client(
            streamable_http_client("https://vault.example.com/mcp", http_client=http),
            mode=mode,
            read_timeout_seconds=10,
        ) as client,
    ):
        assert client.protocol_version == version
        yield client


@EVERY_MODE
async def test_a_client_lists_calls_and_reads(world: McpWorld, mode: Mode, version: str) -> None:
    async with connected(world, mode, version) as client:
        tools = await client.list_tools()
        found = await client.call_tool("search_documents", {"q": "tulips"})
        read = await client.read_resource("vault://notes/garden.md")

    assert [tool.name for tool in tools.tools][-2:] == ["sync_documents", "run_check"]
    assert found.structured_content is not None
    assert found.structured_content["hits"][0]["uri"] == "vault://notes/garden.md"
    assert isinstance(read.contents[0], TextResourceContents)
    assert read.contents[0].text == "Plant tulips in October."


@EVERY_MODE
async def test_a_client_lists_and_reads_every_resource(
    world: McpWorld, mode: Mode, version: str
) -> None:
    async with connected(world, mode, version) as client:
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        read = [await client.read_resource(resource.uri) for resource in listed.resources]

    assert [resource.name for resource in listed.resources] == [
        "notes",
        "garden.md",
        "photo.png",
        "заметка.md",
    ]
    assert len(templates.resource_templates) == 2
    assert isinstance(read[2].contents[0], BlobResourceContents)
    assert isinstance(read[3].contents[0], TextResourceContents)
    assert read[3].contents[0].text == "привет"


@EVERY_MODE
async def test_a_client_shows_the_text_of_a_tools_error(
    world: McpWorld, mode: Mode, version: str
) -> None:
    async with connected(world, mode, version) as client:
        result = await client.call_tool("read_file", {"vault": "notes", "path": "gone.md"})

    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    assert result.content[0].text.startswith("file_not_found: ")


@EVERY_MODE
async def test_a_missing_resource_and_a_foreign_one_raise_alike(
    world: McpWorld, mode: Mode, version: str
) -> None:
    async with connected(world, mode, version, token="bob") as client:
        with pytest.raises(MCPError, match="Resource not found") as foreign:
            await client.read_resource("vault://notes/garden.md")
        with pytest.raises(MCPError, match="Resource not found") as missing:
            await client.read_resource("vault://gone/garden.md")

    assert foreign.value.code == missing.value.code


@EVERY_MODE
async def test_another_user_sees_nothing(world: McpWorld, mode: Mode, version: str) -> None:
    async with connected(world, mode, version, token="carol") as client:
        listed = await client.list_resources()
        found = await client.call_tool("search_documents", {"q": "tulips"})

    assert listed.resources == []
    assert found.structured_content is not None
    assert found.structured_content["hits"] == []
