"""Comparisons and rebuilds of vaults in a dictionary."""

from dataclasses import replace
from datetime import datetime, timedelta

from archivolt.domain.limits import REBUILD_SECONDS
from archivolt.domain.vault import VaultRef
from archivolt.ports.index_runs import IndexRun


class InMemoryIndexRuns:
    """`IndexRuns` that live as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[VaultRef, IndexRun] = {}

    def get(self, vault: VaultRef) -> IndexRun:
        return self._kept.get(vault, IndexRun())

    def ask_rebuild(self, vault: VaultRef, *, now: datetime) -> bool:
        known = self.get(vault)
        if known.asked_at and now < known.asked_at + timedelta(seconds=REBUILD_SECONDS):
            return False
        fresh = replace(known, rebuild_since=now, rebuilt=0)
        self._kept[vault] = replace(known if known.is_rebuilding else fresh, asked_at=now)
        return True

    def release(self, vault: VaultRef) -> None:
        self._kept[vault] = replace(self.get(vault), asked_at=None)

    def note_rebuilt(self, vault: VaultRef, *, documents: int) -> None:
        known = self.get(vault)
        if known.rebuild_since is not None:
            self._kept[vault] = replace(known, rebuilt=known.rebuilt + documents)

    def finish(self, vault: VaultRef, *, now: datetime, rebuilt: datetime | None = None) -> None:
        known = replace(self.get(vault), compared_at=now)
        if rebuilt is not None and known.rebuild_since == rebuilt:
            known = IndexRun(compared_at=now)
        self._kept[vault] = known
