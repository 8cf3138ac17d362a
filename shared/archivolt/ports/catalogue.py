"""The state of every document in the index."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from archivolt.domain.ingestion import CatalogueEntry, Generation, IndexState
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef


class Catalogue(Protocol):
    """Keeps one entry per document. Every implementation passes `tests/contract`."""

    def get(self, vault: VaultRef, path: VaultPath) -> CatalogueEntry | None:
        """Return the entry (a tombstone too), or None."""
        ...

    def get_many(
        self, keys: Sequence[tuple[VaultRef, VaultPath]]
    ) -> Mapping[tuple[VaultRef, VaultPath], CatalogueEntry]:
        """Return the entries that exist; strongly consistent."""
        ...

    def advance(self, entry: CatalogueEntry, *, previous: CatalogueEntry | None) -> bool:
        """Store `entry` if the stored one still is `previous` and no newer change was recorded.

        Compare-and-swap on generation, sequencer and `moved_to`: an entry with an older or equal
        sequencer than the stored one is refused. An entry without a sequencer (a reconciliation's)
        keeps the stored one. Returns False when refused, and then nothing changed.
        """
        ...

    def mark_moving(self, entry: CatalogueEntry) -> bool:
        """Record where a document is moving to, and nothing else; False if it is not current.

        `entry` is from `archivolt.domain.moves.moving`.
        """
        ...

    def mark_embedded(
        self, vault: VaultRef, path: VaultPath, generation: Generation, *, embedder: str
    ) -> bool:
        """Record that the vectors of `generation` are in place; False if it is not current."""
        ...

    def entries(self, vault: VaultRef, *, recount: bool = False) -> Iterator[CatalogueEntry]:
        """Yield every entry of a vault in path order, tombstones excepted.

        With `recount`, who reads to the end has what `documents` tells corrected, should it be
        wrong (for reconciliation only).
        """
        ...

    def counts(self, vault: VaultRef) -> Mapping[IndexState, int]:
        """Return how many documents are in each state, tombstones excepted.

        It costs what is not `indexed`; a change of state may show a moment later.
        """
        ...

    def documents(self, vaults: Sequence[VaultRef]) -> Mapping[VaultRef, int]:
        """Return how many documents each vault has, tombstones excepted, cheaply and exactly."""
        ...

    def attention(self, vault: VaultRef) -> Mapping[IndexState, int]:
        """Return the counts of every state but `indexed`, cheaply (for search notices).

        Beyond `MAX_ATTENTION_COUNT`, no more pending ones are counted; nor, beyond as many, others,
        in the order of states.
        """
        ...

    def unindexed(
        self, vault: VaultRef, *, state: IndexState | None = None, offset: int = 0, limit: int
    ) -> Sequence[CatalogueEntry]:
        """Return documents that are not indexed, in the order of states, and then of paths.

        They are in `state`; None takes all but the pending ones, which need nobody's attention.
        Only the first `MAX_ATTENTION_COUNT` are within reach of `offset`.
        """
        ...
