"""Keeps the mirroring process running while the stack does."""

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from archivolt_local.children import Command, start_child
from archivolt_local.places import DataFolder

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


@dataclass(frozen=True, kw_only=True)
class MirrorOrder:
    """What to mirror: the folder of each vault, and the queue whose length slows a first load."""

    vaults: Mapping[str, Path]
    queue: str
    data: DataFolder

    def as_json(self) -> str:
        """Return it as the process wants it."""
        return json.dumps(
            {
                "vaults": {name: str(folder) for name, folder in self.vaults.items()},
                "queue": self.queue,
                "records": str(self.data.mirrors),
            }
        )


async def keep_mirroring(order: MirrorOrder, environment: Mapping[str, str]) -> None:
    """Run the process, again whenever it ends, until cancelled; its words go to the terminal."""
    command = Command(
        name="mirror",
        arguments=[sys.executable, "-m", "archivolt_local.mirror.process", order.as_json()],
        environment=environment,
    )
    pause = _FIRST_PAUSE
    while order.vaults:
        child = await start_child(command)
        try:
            await child.process.wait()
        finally:
            await child.stop(patience=3.0)
        print(f"The mirror ended by itself; it starts again in {pause:.0f} s.", flush=True)
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE, 2 * pause)
