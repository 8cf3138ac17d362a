"""What broken MCP servers of others cost a turn before its first word (L26).

The same turn, of a model that answers at once, is taken with no server turned on, with five that
are broken or slow and whose tools are known, and with five whose tools nobody knows, which are
asked in the background once their turn is over: the turns of all three begin beside that.
"""

import asyncio
import statistics
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.json_schema.arguments import JsonSchemaArguments
from archivolt.adapters.mcp.client import SdkMcpClient
from archivolt.adapters.mcp.transports import Transports
from archivolt.adapters.system.clock import SystemClock
from archivolt.chat.outside import Outside
from archivolt.domain.federation import McpServer, McpTool, McpTransport
from archivolt.entrypoints.http.chat_app import LazyChatApp
from archivolt.federation.calls import McpCalls
from archivolt.ports.chat_model import ModelTurn
from bench.table import Row
from tests.builders import ACME
from tests.chat_world import ChatWorld
from tests.entrypoints.asgi_call import AsgiCall
from tests.entrypoints.test_chat_http import MESSAGES, application, bearer
from tests.fakes import mcp_program
from tests.fakes.models import ScriptedModel

_TURNS: Final = 60
_BROKEN: Final = ("ends", "hung", "garbage", "slow")
_TOOLS: Final = (McpTool(name="read", read_only=True, open_world=False),)
_NONE: Final = "none"


class _RealServers(ChatWorld):
    """The chat over fakes, and servers that are programs and an address where nobody is."""

    def __init__(self, client: SdkMcpClient) -> None:
        self._client = client
        super().__init__(ScriptedModel(ModelTurn(text="Hello.")))

    @cached_property
    def outside(self) -> Outside:
        """See `ChatWorld.outside`."""
        calls = McpCalls(
            self.mcp_servers,
            self.mcp_accounts.access,
            lambda: self._client,
            self.clock,
            programs=True,
        )
        return Outside(calls, JsonSchemaArguments, _in_background)

    def break_servers(self, *, known: bool) -> None:
        """Turn on five servers that are broken or slow, each in its own way."""
        tools = _TOOLS if known else None
        script = str(Path(mcp_program.__file__))
        for mode in _BROKEN:
            arguments = ("-I", script, mode)
            server = McpServer(
                id=mode, enabled=True, tools=tools, command=sys.executable, arguments=arguments
            )
            self.mcp_servers.save(ACME, server)
        dead = McpServer(
            id="dead",
            enabled=True,
            tools=tools,
            transport=McpTransport.HTTP,
            url="http://127.0.0.1:9/mcp",
        )
        self.mcp_servers.save(ACME, dead)


def measure() -> list[Row]:
    """Return milliseconds to the first word, beside those without any server."""
    rules = OutboundRules.from_setting("127.0.0.1")
    client = SdkMcpClient(Transports(rules, rules, programs=True), SystemClock(), connect_seconds=2)
    try:
        medians = asyncio.run(_medians(client))
    finally:
        client.close()
    return [
        Row(
            measure=f"first word, five broken MCP servers {name}",
            value=took,
            unit="ms",
            floor="with none",
            floor_value=medians[_NONE],
        )
        for name, took in medians.items()
        if name != _NONE
    ]


async def _medians(client: SdkMcpClient) -> Mapping[str, float]:
    worlds = {name: _RealServers(client) for name in (_NONE, "with tools", "without tools")}
    worlds["with tools"].break_servers(known=True)
    worlds["without tools"].break_servers(known=False)
    apps = {name: application(world) for name, world in worlds.items()}
    taken: dict[str, list[float]] = {name: [] for name in apps}
    for turn in range(_TURNS):
        for name, app in apps.items():
            took = await _first_word(app)
            # In the first turns modules are loaded.
            taken[name] += [took] if turn >= _TURNS // 4 else []
    return {name: statistics.median(times) for name, times in taken.items()}


async def _first_word(app: LazyChatApp) -> float:
    start = time.perf_counter()
    async with AsgiCall(app, MESSAGES, {"message": "Hello"}, bearer()) as call:
        await call.until(b"event: content_delta")
        took = time.perf_counter() - start
        await call.until(b"event: message_end")
    return took * 1e3


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()
