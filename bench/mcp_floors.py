"""What MCP calls are measured beside: FastMCP in an environment of its own, and real tables."""

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO, cast

from archivolt.adapters.dynamodb.audit import DynamoAuditLog
from archivolt.adapters.dynamodb.rates import DynamoRateCounter
from archivolt.domain.tool import Surface
from archivolt.tools.confirmations import Confirmations
from archivolt.tools.pipeline import ToolPipeline
from archivolt.tools.rate_limit import RateLimit
from archivolt_local.tables.dynamodb_local import dynamodb_local, is_available
from bench.table import Row
from tests.contract.conftest import client_of, make_table
from tests.entrypoints.mcp_messages import Sent, modern
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_api import proxy_event

Step = Callable[[int], float]
"""Does something so many times; returns the CPU seconds of one."""

_FASTMCP = Path(__file__).parents[1] / ".tools" / "fastmcp" / "bin" / "python"
_SIDE = Path(__file__).with_name("fastmcp_side.py")
_CALLS = 150


@contextmanager
def fastmcp_side() -> Generator[Callable[[Sent], Step]]:
    """Give what makes a step of FastMCP's server of a message (`scripts/install.py fastmcp`)."""
    with subprocess.Popen(
        [_FASTMCP, _SIDE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as side:
        requests, answers = cast("TextIO", side.stdin), cast("TextIO", side.stdout)

        def to(sent: Sent) -> Step:
            event = proxy_event(sent.body, {"authorization": "Bearer alice", **sent.headers})

            def step(times: int) -> float:
                print(json.dumps({"times": times, "event": event}), file=requests, flush=True)
                told: dict[str, Any] = json.loads(answers.readline())
                if "structuredContent" not in told["answer"]["body"]:
                    raise RuntimeError(told["answer"]["body"])
                return told["seconds"]

            return step

        yield to
        requests.close()


def on_dynamodb() -> list[Row]:
    """Return what a call takes on real tables, beside the calls to them alone; none without."""
    with dynamodb_local() if is_available() else nullcontext("") as url:
        if not url:
            return []
        client = client_of("dynamodb", endpoint=url)
        world = McpWorld()
        world.vault("notes")
        world.call("list_vaults", surface=Surface.MCP)
        audit, entry = DynamoAuditLog(make_table(client, "AuditTable")), world.audit.entries[-1]
        rates = DynamoRateCounter(make_table(client, "LedgerTable"))
        limit = RateLimit(counter=rates, per_token=10**6, per_tool=10**6, per_tenant=10**6)
        world.pipeline = ToolPipeline(
            world.tools(),
            world,
            rate_limit=limit,
            audit=audit,
            clock=world.clock,
            confirmations=lambda: Confirmations(world.proposals, wait=time.sleep),
        )
        sent = modern("tools/call", {"name": "list_vaults", "arguments": {}})

        def writes() -> None:
            limit.count(entry.principal, "list_vaults", entry.at)
            audit.append(entry)

        value, floor_value = _milliseconds(lambda: world.send(sent), writes)
    return [
        Row(
            measure="MCP tools/call on DynamoDB Local",
            value=value,
            unit="ms",
            floor="its three writes",
            floor_value=floor_value,
        )
    ]


def _milliseconds(*calls: Callable[[], object]) -> list[float]:
    """Return what each takes, in turns: the service gets faster for long after its start."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(_CALLS):
        for call, times in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return [statistics.median(times[_CALLS // 3 :]) * 1_000 for times in taken]
