"""A call gives the same through REST, as a tool and over MCP (decision 26)."""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.domain.paths import resolve_directory
from archivolt.domain.tool import Risk, Surface
from archivolt.entrypoints.http.change_routes import CHANGE_ROUTES
from archivolt.entrypoints.http.read_routes import READ_ROUTES
from archivolt.entrypoints.http.services import RestServices
from archivolt.entrypoints.http.tools_app import create_tools_app
from archivolt.entrypoints.mcp.app import McpServices, create_app
from archivolt.tools.catalogue import native_tools
from tests.builders import ALICE, principal
from tests.entrypoints.mcp_messages import modern
from tests.entrypoints.rest_world import rest_services
from tests.fakes.governance import KnownTokens
from tests.world import SIGNING_KEY, World

pytestmark = pytest.mark.anyio

API = "/api/v1"
Told = dict[str, Any] | str
"""A result, or the code of an error."""
HERE = {"vault": "notes", "path": "a.md"}

READS: dict[str, list[dict[str, Any]]] = {
    "list_vaults": [{}],
    "list_directory": [{"vault": "notes"}, {"vault": "notes", "path": "dir"}, {"vault": "x"}],
    "list_all_files": [{"vault": "notes", "limit": 1}],
    "read_file": [HERE, {**HERE, "offset": 3, "limit": 4}, {**HERE, "path": "x.md"}],
    "read_file_raw": [HERE],
    "get_backlinks": [HERE],
    "get_graph": [{"vault": "notes"}, {**HERE, "depth": 2}],
    "list_backups": [HERE, {**HERE, "path": "../x"}],
    "diff_backup": [{**HERE, "version": "version-1"}, {**HERE, "version": "none"}],
    "search_fulltext": [{"q": "apples"}, {"q": "apples", "tag": "fruit"}],
    "search_advanced": [{"q": "app.es", "regex": True}, {"q": "APPLES", "case_sensitive": True}],
    "search_paths": [{"q": "a.md"}],
    "list_tags": [{"vault": "notes"}],
    "suggest_tags": [{"q": "fr"}],
    "list_recent": [{"vault": "notes", "limit": 2}],
    "search_documents": [{"q": "apples"}],
    "sync_documents": [{"vault": "x"}],
    "run_check": [HERE, {"path": "a.py", "content": "x = ("}, {"path": "a.py"}],
}
CHANGES: dict[str, dict[str, Any]] = {
    "create_file": {"vault": "notes", "path": "new.md", "content": "new\n"},
    "create_directory": {"vault": "notes", "path": "new"},
    "edit_file": {**HERE, "content": "pears\n", "etag": "{etag}"},
    "append_to_file": {**HERE, "content": "pears"},
    "restore_backup": {**HERE, "version": "version-1"},
    "rename_file": {**HERE, "new_name": "b.md"},
    "rename_directory": {"vault": "notes", "path": "dir", "new_name": "folder"},
    "move_path": {"vault": "notes", "source_path": "a.md", "destination_dir": "dir"},
    "replace_in_files": {"vault": "notes", "find": "apples", "replace": "pears"},
    "delete_file": HERE,
    "delete_directory": {"vault": "notes", "path": "dir", "recursive": True},
}
REFUSED: dict[str, dict[str, Any]] = {
    "create_file": {**HERE, "content": "x"},
    "edit_file": {**HERE, "content": "x", "etag": "other"},
    "append_to_file": {**HERE, "path": "x.md", "content": "x"},
    "restore_backup": {**HERE, "version": "none"},
    "rename_file": {**HERE, "new_name": "x/y"},
    "move_path": {"vault": "notes", "source_path": "dir", "destination_dir": "dir"},
    "delete_file": {**HERE, "etag": "other"},
    "delete_directory": {"vault": "notes", "path": "dir"},
}


# Making the application takes longer than a test: every house lends it its services.
_SERVING: dict[str, RestServices] = {}


@cache
def _rest() -> ASGIApp:
    return create_tools_app(lambda: _SERVING["now"])


class House:
    """The REST and MCP doors over one small world of Alice's."""

    def __init__(self) -> None:
        self.world = World()
        ref = self.world.vault("notes")
        self.etag = self.world.write(ref, "a.md", "apples, see [[c]]\n", tags=("fruit",)).etag
        self.world.write(ref, "dir/c.md", "see [[a]] and apples\n")
        tokens = KnownTokens({"alice": principal(ALICE)})
        self._services = rest_services(self.world, tokens)
        self._mcp = create_app(
            McpServices(
                token_verifier=tokens, pipeline=self.world.pipeline, state_key=lambda: SIGNING_KEY
            )
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        _SERVING["now"] = self._services
        await (self._mcp if scope["path"] == "/mcp" else _rest())(scope, receive, send)

    async def send(
        self, method: str, url: str, body: object = None, headers: dict[str, str] | None = None
    ) -> httpx2.Response:
        """Return the answer to Alice's request."""
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=self),
            base_url="http://house.test",
            headers={"authorization": "Bearer alice"},
        ) as http:
            return await http.request(method, url, json=body, headers=headers)

    async def tool(self, name: str, arguments: dict[str, Any], step: str = "") -> Told:
        """Return what a tool gives over REST: its result, or its error."""
        answer = await self.send("POST", f"{API}/tools/{name}{step}", arguments)
        return _told(answer.json())

    async def mcp(self, name: str, arguments: dict[str, Any]) -> Told:
        """Return what a tool gives over MCP: its result, or its error."""
        sent = modern("tools/call", {"name": name, "arguments": arguments})
        answer = (await self.send("POST", "/mcp", sent.body, sent.headers)).json()["result"]
        text: str = answer["content"][0]["text"]
        return text.partition(":")[0] if answer.get("isError") else answer["structuredContent"]


def _told(answer: dict[str, Any]) -> Told:
    """Return a result as it is, and of an error what is the same at every door."""
    if "error" in answer:
        return answer["error"]["code"]
    return answer.get("result", answer)


def test_every_tool_is_tried() -> None:
    tools = list(native_tools())
    reads = {tool.name for tool in tools if tool.risk is Risk.READ and Surface.MCP in tool.scopes}
    changes = {tool.name for tool in tools if tool.risk is not Risk.READ}

    assert reads == set(READS)
    assert changes == set(CHANGES)


@pytest.mark.parametrize(
    ("tool", "arguments"), [(tool, case) for tool, cases in READS.items() for case in cases]
)
async def test_a_read_gives_the_same_at_every_door(tool: str, arguments: dict[str, Any]) -> None:
    house = House()
    called = await house.tool(tool, arguments)

    assert await house.mcp(tool, arguments) == called
    for route in READ_ROUTES:
        if route.tool == tool:
            address = route.path.format(**arguments)
            query = {k: v for k, v in arguments.items() if f"{{{k}}}" not in route.path}
            answer = await house.send("GET", f"{API}{address}?{urlencode(query)}")
            assert _told(answer.json()) == called


async def by_proposal(house: House, tool: str, arguments: dict[str, Any]) -> Told:
    proposed = await house.tool(tool, arguments, "/propose")
    if isinstance(proposed, str):
        return proposed
    confirmation = {"confirmation_token": proposed["confirmation_token"]}
    return await house.tool(tool, confirmation, "/apply")


async def by_mcp(house: House, tool: str, arguments: dict[str, Any]) -> Told:
    proposed = await house.mcp(f"propose_{tool}", arguments)
    if isinstance(proposed, str):
        return proposed
    confirmation = {"confirmation_token": proposed["confirmation_token"]}
    return await house.mcp(f"apply_{tool}", confirmation)


async def by_hand(house: House, tool: str, arguments: dict[str, Any]) -> Told:
    [route] = [route for route in CHANGE_ROUTES if route.tool == tool]
    given = {k: v for k, v in arguments.items() if f"{{{k}}}" not in route.path}
    address = f"{API}{route.path.format(**arguments)}"
    if route.method == "DELETE":
        return _told((await house.send("DELETE", f"{address}?{urlencode(given)}")).json())
    return _told((await house.send(route.method, address, given)).json())


Door = Callable[[House, str, dict[str, Any]], Awaitable[Told]]
DOORS: list[Door] = [by_proposal, by_mcp, by_hand]


async def outcome(
    door: Door, tool: str, arguments: dict[str, Any]
) -> tuple[Told, dict[str, bytes]]:
    """Return what a change gives in a new house, and the files that it leaves."""
    house = House()
    given = {k: house.etag if v == "{etag}" else v for k, v in arguments.items()}
    told = await door(house, tool, given)
    ref = house.world.vaults.access(principal(ALICE), "notes").vault.ref
    files = house.world.store.list(ref, resolve_directory(""), recursive=True, limit=100).files
    return told, {file.path: house.world.store.read(ref, file.path).data for file in files}


@pytest.mark.parametrize("tool", CHANGES)
async def test_a_change_gives_and_leaves_the_same_at_every_door(tool: str) -> None:
    outcomes = [await outcome(door, tool, CHANGES[tool]) for door in DOORS]

    assert isinstance(outcomes[0][0], dict)
    assert outcomes[1:] == outcomes[:1] * 2


@pytest.mark.parametrize("tool", REFUSED)
async def test_a_change_is_refused_for_the_same_at_every_door(tool: str) -> None:
    outcomes = [await outcome(door, tool, REFUSED[tool]) for door in DOORS]

    assert isinstance(outcomes[0][0], str)
    assert outcomes[1:] == outcomes[:1] * 2
