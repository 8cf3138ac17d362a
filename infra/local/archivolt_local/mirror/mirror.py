"""Keeps one vault like one folder: first everything, then every change, what is fresh before all.

A first load waits while the index has much to do, so that a file dropped meanwhile is found soon.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

from archivolt.domain.errors import ArchivoltError
from archivolt_local.mirror.changes import Change, Remove, Write, differences, differences_at
from archivolt_local.mirror.folder import MirroredFolder, Scan
from archivolt_local.mirror.manifest import Manifest
from archivolt_local.mirror.writer import Outcome, VaultWriter, described

# Below this many changes a look at the whole folder is an update, not a first load.
_BULK_FROM = 20
_SIDE_BY_SIDE = 4
# A dropped file waits behind as many at the most: enough to keep the index busy, and no more.
_MOST_WAITING = 6
_PAUSE = 0.1
_RETRY_SECONDS = 2.0

Say = Callable[[str], None]
Waiting = Callable[[], int]


class VaultMirror:
    """One folder and its vault. `waiting` tells how many changes the index has yet to take."""

    def __init__(
        self,
        folder: MirroredFolder,
        writer: VaultWriter,
        manifest: Manifest,
        waiting: Waiting,
        say: Say,
    ) -> None:
        self._folder = folder
        self._writer = writer
        self._manifest = manifest
        self._waiting = waiting
        self._say = say
        self._fresh: deque[Change] = deque()
        self._backlog: deque[Change] = deque()
        self._something = asyncio.Event()
        self._told: set[str] = set()

    @property
    def backlog(self) -> int:
        """How many changes have not been carried out."""
        return len(self._backlog) + len(self._fresh)

    async def look_at_everything(self) -> int:
        """Compare the whole folder with what was written; return how many files it has."""
        if not self._folder.present:
            self._tell("", "the folder is gone; the vault stays as it is")
            return 0
        scan = await asyncio.to_thread(self._folder.scan)
        self._report(scan)
        changes = differences(scan, self._manifest.all(), bulk=False)
        if len(changes) >= _BULK_FROM:
            self._backlog = deque(differences(scan, self._manifest.all(), bulk=True))
        else:
            self._fresh.extend(changes)
        self._something.set()
        return len(scan.files)

    async def look_at(self, places: Sequence[Path]) -> None:
        """Take up the changes at some places of the folder."""
        if not self._folder.present:
            return
        scan = await asyncio.to_thread(self._folder.look_at, iter(places))
        self._report(scan)
        names = [self._folder.vault_path(place) for place in places]
        changes = differences_at(names, scan, self._manifest.all())
        paths = {described(change) for change in changes}
        self._backlog = deque(item for item in self._backlog if described(item) not in paths)
        self._fresh.extend(changes)
        self._something.set()

    async def follow(self, batches: AsyncIterator[Iterable[Path]]) -> None:
        """Take up changes as a watcher tells them."""
        async for places in batches:
            await self.look_at(list(places))

    async def work(self) -> None:
        """Carry changes out for ever, fresh ones first."""
        while True:
            if self._fresh:
                await self._carry_out(self._fresh.popleft())
            elif self._backlog:
                await self._carry_out_backlog()
            else:
                self._something.clear()
                await self._something.wait()

    async def _carry_out_backlog(self) -> None:
        if await asyncio.to_thread(self._waiting) >= _MOST_WAITING:
            await asyncio.sleep(_PAUSE)
            return
        part = [self._backlog.popleft() for _ in range(min(_SIDE_BY_SIDE, len(self._backlog)))]
        removals = [change for change in part if isinstance(change, Remove)]
        writes = [change for change in part if isinstance(change, Write)]
        await asyncio.gather(*(self._carry_out(change) for change in writes))
        await asyncio.gather(*(self._carry_out(change) for change in removals))

    async def _carry_out(self, change: Change) -> None:
        path = described(change)
        try:
            outcome = await asyncio.to_thread(self._writer.apply, change)
        except ArchivoltError as error:
            self._tell(path, f"{error}; trying again")
            await asyncio.sleep(_RETRY_SECONDS)
            self._fresh.append(change)
            return
        if outcome is Outcome.NOT_OURS:
            self._tell(path, outcome.value)
        if outcome is Outcome.UNSTABLE and isinstance(change, Write):
            await asyncio.sleep(_PAUSE)
            await self.look_at([change.file.source])

    def _report(self, scan: Scan) -> None:
        for name, reason in scan.left_out.items():
            self._tell(name, f"left out: {reason}")

    def _tell(self, name: str, reason: str) -> None:
        line = f"{name or self._folder.root}: {reason}"
        if line not in self._told:
            self._told.add(line)
            self._say(line)
