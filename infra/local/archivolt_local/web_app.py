"""A function that is a web app: its start script run as behind the Lambda Web Adapter.

It is started again when it ends by itself.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from archivolt_local.addresses import LOOPBACK, free_port
from archivolt_local.children import Child, Command, start_child
from archivolt_local.emulator import wait_until_answers
from archivolt_local.gateway.streaming import StreamingProxy
from archivolt_local.provisioning.deployment import DeployedFunction

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0


def is_web_app(function: DeployedFunction) -> bool:
    """Tell whether a function is a start script and not a Python handler."""
    return function.handler.endswith(".sh")


class WebApp:
    """One running web app and the proxy to it."""

    def __init__(
        self, function: DeployedFunction, environment: Mapping[str, str], logs: Path, scratch: Path
    ) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        self._port = free_port()
        self._command = Command(
            name=function.name,
            arguments=["bash", str(function.folder / function.handler)],
            environment={
                **environment,
                "AWS_LWA_PORT": str(self._port),
                "TMPDIR": str(scratch),
            },
            log=logs / f"{function.short_name}.log",
            folder=function.folder,
        )
        self._child: Child | None = None
        self._readiness = function.environment.get("AWS_LWA_READINESS_CHECK_PATH", "/")
        self.url = f"http://{LOOPBACK}:{self._port}"
        self.proxy = StreamingProxy(self.url)

    async def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            StartError: It does not start.

        """
        self._child = await start_child(self._command)
        await wait_until_answers(self._child, f"{self.url}{self._readiness}")

    async def keep_alive(self) -> None:
        """Start it again whenever it ends, for ever; more slowly the more often it ends."""
        pause = _FIRST_PAUSE
        while self._child is not None:
            await self._child.process.wait()
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, 2 * pause)
            self._child = await start_child(self._command)

    async def stop(self) -> None:
        """End it."""
        if self._child is not None:
            # Programs that it started, MCP servers of others, may take a while to end.
            await self._child.stop(patience=9.0)
        await self.proxy.close()
