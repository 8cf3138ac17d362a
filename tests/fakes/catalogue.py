"""The catalogue in a dictionary, with the compare-and-swap that the port promises."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from archivolt.domain.ingestion import CatalogueEntry, Generation, IndexState
from archivolt.domain.limits import MAX_ATTENTION_COUNT, TOMBSTONE_DAYS
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.clock import Clock
from tests.fakes.clock import FrozenClock


class InMemoryCatalogue:
    """A `Catalogue` that lives as long as the test."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or FrozenClock()
        self._kept: dict[tuple[VaultRef, VaultPath], CatalogueEntry] = {}

    def get(self, vault: VaultRef, path: VaultPath) -> CatalogueEntry | None:
        return self._find(vault, path)

    def get_many(
        self, keys: Sequence[tuple[VaultRef, VaultPath]]
    ) -> Mapping[tuple[VaultRef, VaultPath], CatalogueEntry]:
        return {key: entry for key in keys if (entry := self._find(*key)) is not None}

    def advance(self, entry: CatalogueEntry, *, previous: CatalogueEntry | None) -> bool:
        stored = self._find(entry.vault, entry.path)
        if _version(stored) != _version(previous):
            return False
        known = stored.sequencer if stored else None
        if known and entry.sequencer and entry.sequencer <= known:
            return False
        entry = replace(entry, sequencer=entry.sequencer or known)
        self._kept[entry.vault, entry.path] = entry
        return True

    def mark_embedded(
        self, vault: VaultRef, path: VaultPath, generation: Generation, *, embedder: str
    ) -> bool:
        stored = self._find(vault, path)
        if stored is None or stored.generation != generation:
            return False
        if stored.state not in {IndexState.PENDING, IndexState.INDEXED}:
            return False
        self._kept[vault, path] = replace(stored, state=IndexState.INDEXED, embedder=embedder)
        return True

    def mark_moving(self, entry: CatalogueEntry) -> bool:
        stored = self._find(entry.vault, entry.path)
        if stored is None or stored.state is IndexState.DELETED:
            return False
        if stored.generation != entry.generation:
            return False
        self._kept[entry.vault, entry.path] = replace(
            stored, moved_to=entry.moved_to, moved_over=entry.moved_over, served=entry.served
        )
        return True

    def entries(self, vault: VaultRef, *, recount: bool = False) -> Iterator[CatalogueEntry]:
        for owner, path in sorted(self._kept, key=lambda key: key[1]):
            entry = self._find(owner, path)
            if owner == vault and entry and entry.state is not IndexState.DELETED:
                yield entry

    def counts(self, vault: VaultRef) -> Mapping[IndexState, int]:
        return Counter(entry.state for entry in self.entries(vault))

    def documents(self, vaults: Sequence[VaultRef]) -> Mapping[VaultRef, int]:
        return {vault: sum(self.counts(vault).values()) for vault in vaults}

    def attention(self, vault: VaultRef) -> Mapping[IndexState, int]:
        states = [entry.state for entry in self.entries(vault)]
        waiting = [state for state in states if state is not IndexState.INDEXED]
        waiting.sort(key=list(IndexState).index)
        final = [state for state in waiting if state is not IndexState.PENDING]
        pending = waiting[: len(waiting) - len(final)]
        return Counter(pending[:MAX_ATTENTION_COUNT] + final[:MAX_ATTENTION_COUNT])

    def unindexed(
        self, vault: VaultRef, *, state: IndexState | None = None, offset: int = 0, limit: int
    ) -> Sequence[CatalogueEntry]:
        settled = {IndexState.PENDING, IndexState.INDEXED}
        entries = [
            entry
            for entry in self.entries(vault)
            if (entry.state is state if state else entry.state not in settled)
        ]
        entries.sort(key=lambda entry: list(IndexState).index(entry.state))
        return entries[offset : min(offset + limit, MAX_ATTENTION_COUNT)]

    def _find(self, vault: VaultRef, path: VaultPath) -> CatalogueEntry | None:
        entry = self._kept.get((vault, path))
        if entry is None or entry.state is not IndexState.DELETED:
            return entry
        expires_at = entry.updated_at + timedelta(days=TOMBSTONE_DAYS)
        return entry if self._clock.now() < expires_at else None


def _version(entry: CatalogueEntry | None) -> tuple[str, str | None, str] | None:
    return None if entry is None else (entry.generation, entry.sequencer, entry.moved_to)
