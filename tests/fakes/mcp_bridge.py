"""MCP servers that are programs, served over streamable HTTP: a bridge on the official SDK.

Run as a program with a port and a JSON object of commands by name, in the environment of the
servers that tests drive. Each is at `/<name>/mcp`, whoever asks, and ends with the bridge.
"""

import asyncio
import json
import signal
import sys
from contextlib import AsyncExitStack

import uvicorn
from mcp import Client, StdioServerParameters
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
from starlette.applications import Starlette
from starlette.routing import Mount


def passing_on(name: str, behind: Client) -> Server[object]:
    """Return a server whose tools are those of another."""

    async def list_tools(_: object, params: PaginatedRequestParams | None) -> ListToolsResult:
        return await behind.list_tools(cursor=params.cursor if params else None)

    async def call_tool(_: object, params: CallToolRequestParams) -> CallToolResult:
        return await behind.call_tool(params.name, params.arguments)

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)


def gone_on(*_: object) -> None:
    """Take a signal for none."""


async def serve(port: int, commands: dict[str, list[str]]) -> None:
    async with AsyncExitStack() as open_ones:
        routes: list[Mount] = []
        for name, (command, *arguments) in commands.items():
            program = StdioServerParameters(command=command, args=arguments)
            behind = await open_ones.enter_async_context(Client(program))
            manager = StreamableHTTPSessionManager(passing_on(name, behind))
            await open_ones.enter_async_context(manager.run())
            routes.append(Mount(f"/{name}/mcp", app=manager.handle_request))
        app = Starlette(routes=routes)
        config = uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    # What serves ends at this signal and then raises it again: the programs have yet to be ended.
    signal.signal(signal.SIGTERM, gone_on)
    asyncio.run(serve(int(sys.argv[1]), json.loads(sys.argv[2])))
