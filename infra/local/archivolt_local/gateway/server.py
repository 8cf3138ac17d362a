"""Serves the front door on a socket that is already bound, inside the stack's own event loop."""

import contextlib
import socket
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

import uvicorn

from archivolt_local.gateway.front_door import FrontDoor


class _Server(uvicorn.Server):
    """Leaves the signals to the stack."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def serve_front_door(
    app: FrontDoor, reserved: socket.socket, serving: AbstractAsyncContextManager[None]
) -> None:
    """Listen and answer until cancelled; `serving` is entered once requests are accepted."""
    config = uvicorn.Config(
        cast("Any", app),
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        # Nothing stands in front: what a client says of its own address is not believed.
        proxy_headers=False,
        # A client that thinks between two calls would else find its connection closed as it sends,
        # and few dare to send a POST again.
        timeout_keep_alive=120,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=64 * 1024,
    )
    server = _Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[reserved])
    try:
        async with serving:
            await server.main_loop()
    finally:
        await server.shutdown(sockets=[reserved])
