"""What a warm `tools/call` costs beside the floors under it, all through the same Lambda event.

The tool is `list_vaults` over stores in memory: rate limit, redaction and audit are in it, their
services are not. Floors: a FastAPI route behind Mangum that answers a body with itself, and the
same tool called through `mcp.server` without HTTP, tokens or pipeline.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from mangum import Mangum
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.runner import serve_one
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from archivolt.entrypoints.mcp.dispatch import BufferedDispatch
from bench.table import Row
from tests.entrypoints.mcp_messages import Sent, legacy, modern
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_api import LambdaProcess, proxy_event

_ROUNDS = 20
_CALLS_PER_ROUND = 25
_CALL: dict[str, Any] = {"name": "list_vaults", "arguments": {}}

Step = Callable[[], object]


def measure() -> list[Row]:
    """Return microseconds per call, medians of rounds that take turns."""
    world = McpWorld()
    world.write(world.vault("notes"), "garden.md", "Plant tulips in October.")
    steps: dict[str, Step] = {
        "echo": _through(_echo(), Sent(legacy("tools/call", _CALL).body)),
        "bare": _bare(json.dumps({"vaults": [{"name": "notes"}]})),
        "call, stateless": _to(world, modern("tools/call", _CALL)),
        "call, handshake": _to(world, legacy("tools/call", _CALL)),
        "list, stateless": _to(world, modern("tools/list")),
        "read, stateless": _to(world, modern("resources/read", {"uri": "vault://notes/garden.md"})),
    }
    cost = _microseconds(steps)
    floors = {"FastAPI echo through Mangum": "echo", "mcp.server bare call": "bare"}
    rows = [
        _row(f"tools/{era}", cost[era], name, cost[floor])
        for era in ("call, stateless", "call, handshake")
        for name, floor in floors.items()
    ]
    rows.append(
        _row(
            "tools/list, stateless", cost["list, stateless"], "tools/call", cost["call, stateless"]
        )
    )
    rows.append(
        _row(
            "resources/read, stateless",
            cost["read, stateless"],
            "tools/call",
            cost["call, stateless"],
        )
    )
    return rows


def _row(measure: str, value: float, floor: str, floor_value: float) -> Row:
    return Row(
        measure=f"MCP {measure}", value=value, unit="µs", floor=floor, floor_value=floor_value
    )


def _microseconds(steps: Mapping[str, Step]) -> dict[str, float]:
    samples: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(_ROUNDS):
        for name, step in steps.items():
            start = time.perf_counter()
            for _ in range(_CALLS_PER_ROUND):
                step()
            samples[name].append((time.perf_counter() - start) / _CALLS_PER_ROUND)
    return {name: statistics.median(times[1:]) * 1e6 for name, times in samples.items()}


def _to(world: McpWorld, sent: Sent) -> Step:
    return _through(world.processes[0], sent)


def _through(process: LambdaProcess, sent: Sent) -> Step:
    event = proxy_event(sent.body, {"authorization": "Bearer alice", **sent.headers})
    return lambda: process.invoke(event)


def _echo() -> LambdaProcess:
    app = FastAPI(openapi_url=None)

    @app.post("/mcp")
    async def echo(request: Request) -> Any:  # noqa: ANN401  any JSON
        return await request.json()

    return LambdaProcess(lambda: Mangum(app, lifespan="off"))


def _bare(text: str) -> Step:
    async def call_tool(
        _: ServerRequestContext[Any, Any], __: CallToolRequestParams
    ) -> CallToolResult:
        return CallToolResult(content=[TextContent(text=text)], structured_content={"text": text})

    server: Server[Any] = Server("bare", on_call_tool=call_tool)
    server.middleware.clear()
    loop = asyncio.new_event_loop()

    async def call() -> None:
        connection = Connection.from_envelope("2026-07-28", None, {})
        await serve_one(
            server,
            BufferedDispatch(
                transport=TransportContext(kind="streamable-http", can_send_request=False),
                request_id=1,
                message_metadata=ServerMessageMetadata(),
            ),
            "tools/call",
            modern("tools/call", _CALL).body["params"],
            connection=connection,
            lifespan_state=None,
        )

    return lambda: loop.run_until_complete(call())
