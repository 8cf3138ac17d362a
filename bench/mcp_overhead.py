"""What a warm `tools/call` costs beside the floors under it, all through the same Lambda event.

The tool is `list_vaults` over stores in memory: token, rate limit, redaction and audit are in it,
their services are not. Floors: FastMCP's stateless server with a tool that returns the same and has
none of these, a FastAPI route behind Mangum that answers a body with itself, and a tool called
through `mcp.server` without HTTP. In CPU time: what else the machine does is not in it.
"""

import asyncio
import json
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

from archivolt.entrypoints.mcp.app import create_handler
from archivolt.entrypoints.mcp.dispatch import BufferedDispatch
from bench.mcp_floors import Step, fastmcp_side, on_dynamodb
from bench.table import Row
from tests.entrypoints.mcp_messages import Sent, legacy, modern
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_api import proxy_event

_ROUNDS = 30
CALLS_PER_ROUND = 25
_CALL: dict[str, Any] = {"name": "list_vaults", "arguments": {}}


def measure() -> list[Row]:
    """Return microseconds per call, the least of rounds that take turns."""
    # As the runtime of Lambda does: one loop for the life of the process.
    asyncio.set_event_loop(asyncio.new_event_loop())
    world = McpWorld()
    world.write(world.vault("notes"), "garden.md", "Plant tulips in October.")
    steps: dict[str, Step] = {
        "echo": _through(_echo(), Sent(legacy("tools/call", _CALL).body)),
        "bare": _bare(json.dumps({"vaults": [{"name": "notes"}]})),
        "call, stateless": _to(world, modern("tools/call", _CALL)),
        "call, handshake": _to(world, legacy("tools/call", _CALL)),
        "list, stateless": _to(world, modern("tools/list")),
        "list, handshake": _to(world, legacy("tools/list")),
        "read, stateless": _to(world, modern("resources/read", {"uri": "vault://notes/garden.md"})),
    }
    with fastmcp_side() as theirs:
        for era, send in (("stateless", modern), ("handshake", legacy)):
            steps[f"FastMCP, {era}"] = theirs(send("tools/call", _CALL))
        cost = _microseconds(steps)
    rows = [
        _row(f"tools/call, {era}", cost[f"call, {era}"], name, cost[floor])
        for era in ("stateless", "handshake")
        for name, floor in {
            "FastMCP, stateless": f"FastMCP, {era}",
            "FastAPI echo through Mangum": "echo",
            "mcp.server bare call": "bare",
        }.items()
        if floor in cost
    ]
    rows += [
        _row(f"{method}, {era}", cost[f"{step}, {era}"], "tools/call", cost[f"call, {era}"])
        for method, step, era in (
            ("tools/list", "list", "stateless"),
            ("tools/list", "list", "handshake"),
            ("resources/read", "read", "stateless"),
        )
    ]
    return [*rows, *on_dynamodb()]


def _row(measure: str, value: float, floor: str, floor_value: float) -> Row:
    return Row(
        measure=f"MCP {measure}", value=value, unit="µs", floor=floor, floor_value=floor_value
    )


def _microseconds(steps: Mapping[str, Step]) -> dict[str, float]:
    samples: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(_ROUNDS):
        for name, step in steps.items():
            samples[name].append(step(CALLS_PER_ROUND))
    # What a round takes more than the least is its neighbours' in the processor's caches.
    return {name: min(times) * 1e6 for name, times in samples.items()}


def _timed(call: Callable[[], object]) -> Step:
    def step(times: int) -> float:
        start = time.process_time()
        for _ in range(times):
            call()
        return (time.process_time() - start) / times

    return step


def _to(world: McpWorld, sent: Sent) -> Step:
    return _through(create_handler(world.services), sent)


def _through(handler: Mangum, sent: Sent) -> Step:
    event: Any = proxy_event(sent.body, {"authorization": "Bearer alice", **sent.headers})
    context: Any = None
    return _timed(lambda: handler(event, context))


def _echo() -> Mangum:
    app = FastAPI(openapi_url=None)

    @app.post("/mcp")
    async def echo(request: Request) -> Any:  # noqa: ANN401  any JSON
        return await request.json()

    return Mangum(app, lifespan="off")


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

    return _timed(lambda: loop.run_until_complete(call()))
