"""FastMCP's stateless server with the tool that is measured, in an environment of its own.

Run by that environment's Python, and driven by the same Lambda events as ours. Each line of its
input is an event and how often to handle it; each of its answers is the CPU seconds of one.
"""

import asyncio
import importlib
import json
import os
import sys
import time
from typing import Any, TypedDict

from mangum import Mangum


class Vault(TypedDict):
    """A vault of the caller."""

    name: str
    role: str
    files: int
    aiDestructiveTools: bool


class Vaults(TypedDict):
    """Result of `list_vaults`."""

    vaults: list[Vault]
    offset: int
    next_offset: int | None
    note: str | None


def list_vaults(offset: int = 0) -> Vaults:
    """List the vaults you can read."""
    vault = Vault(name="notes", role="owner", files=1, aiDestructiveTools=True)
    return Vaults(vaults=[vault][offset:], offset=offset, next_offset=None, note=None)


def _app() -> Any:  # noqa: ANN401  fastmcp is not in the environment that checks types
    server = importlib.import_module("fastmcp").FastMCP("bench")
    server.tool(list_vaults)
    return server.http_app(
        path="/mcp", stateless_http=True, json_response=True, host_origin_protection=False
    )


def main() -> None:
    """Answer until the input ends."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    app = _app()
    # Under Mangum its lifespan fails at the second event; here it is entered once, as it should be.
    lifespan = app.router.lifespan_context(app)
    loop.run_until_complete(lifespan.__aenter__())
    handler: Any = Mangum(app, lifespan="off")
    for line in sys.stdin:
        wanted = json.loads(line)
        answer: Any = None
        start = time.process_time()
        for _ in range(wanted["times"]):
            answer = handler(wanted["event"], None)
        seconds = (time.process_time() - start) / wanted["times"]
        print(json.dumps({"seconds": seconds, "answer": answer}), flush=True)
    # The lifespan can only be left in the context it was entered in, which is gone.
    os._exit(0)


if __name__ == "__main__":
    main()
