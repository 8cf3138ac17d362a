"""Keeps the mirroring process running while the stack does."""

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from archivolt_local.children import Child, Command, start_child
from archivolt_local.places import DataFolder

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
_SECONDS_FOR_VAULTS = 60.0


@dataclass(frozen=True, kw_only=True)
class MirrorOrder:
    """What to mirror: the folder of each vault, and the queue whose length slows a first load."""

    vaults: Mapping[str, Path]
    queue: str
    data: DataFolder

    @property
    def mark(self) -> Path:
        """A file that says that every vault exists."""
        return self.data.scratch / "vaults-exist"

    def as_json(self) -> str:
        """Return it as the process wants it."""
        return json.dumps(
            {
                "vaults": {name: str(folder) for name, folder in self.vaults.items()},
                "queue": self.queue,
                "records": str(self.data.mirrors),
                "mark": str(self.mark),
            }
        )


class Mirrors:
    """The process that mirrors folders into vaults; its words go to the terminal."""

    def __init__(self, order: MirrorOrder, environment: Mapping[str, str]) -> None:
        self._order = order
        self._command = Command(
            name="mirror",
            arguments=[sys.executable, "-m", "archivolt_local.mirror.process", order.as_json()],
            environment=environment,
        )

    async def keep_running(self) -> None:
        """Run the process, again whenever it ends, until cancelled."""
        pause = _FIRST_PAUSE
        while self._order.vaults:
            await self._run(await start_child(self._command))
            print(f"The mirror ended by itself; it starts again in {pause:.0f} s.", flush=True)
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, 2 * pause)

    async def _run(self, child: Child) -> None:
        try:
            await child.process.wait()
        finally:
            await child.stop(patience=3.0)

    async def vaults_exist(self) -> None:
        """Wait until every vault exists, a minute at the most: the mirror itself goes on trying."""
        waiting = int(_SECONDS_FOR_VAULTS / 0.05) if self._order.vaults else 0
        for _ in range(waiting):
            if await asyncio.to_thread(self._order.mark.exists):
                return
            await asyncio.sleep(0.05)
