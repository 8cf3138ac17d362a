"""What the text index holds of documents that are in no vault any more."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from archivolt.domain.errors import NotFoundError
from archivolt.domain.ingestion import (
    CatalogueEntry,
    EmbeddingJob,
    Generation,
    IndexState,
    next_generation,
)
from archivolt.domain.moves import found_at
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.ingestion import EmbeddingQueue
from archivolt.ports.retrieval import DocumentUpdate, TextIndex
from archivolt.retrieval.current import settled_entries


class Orphans:
    """Removes them; every method may raise `UnavailableError`."""

    def __init__(
        self,
        *,
        files: FileStore,
        catalogue: Catalogue,
        text_index: TextIndex,
        queue: EmbeddingQueue,
        clock: Clock,
    ) -> None:
        self._files = files
        self._catalogue = catalogue
        self._text_index = text_index
        self._queue = queue
        self._clock = clock

    def remove(self, vault: VaultRef, held: Mapping[VaultPath, Sequence[Generation]]) -> int:
        """Remove those of these documents, some thousand, that are gone; return how many.

        What comes meanwhile is spared: it is read later than the instant that the removal has.
        """
        now = self._clock.now()
        entries = self._catalogue.get_many([(vault, path) for path in held])
        updates: list[DocumentUpdate] = []
        for path, generations in held.items():
            if self._is_gone(entries.get((vault, path))):
                generation = next_generation(now, sha256="", previous=max(generations))
                updates.append(DocumentUpdate(path=path, generation=generation, removed=True))
        if updates:
            self._text_index.apply(vault, updates)
            self._queue.send(
                [
                    EmbeddingJob(vault=vault, path=update.path, generation=update.generation)
                    for update in updates
                ]
            )
        return len(updates)

    def _is_gone(self, entry: CatalogueEntry | None) -> bool:
        if entry is None or entry.state is not IndexState.DELETED:
            return entry is None
        return not (entry.served and self._stands_for_a_file(entry))

    def _stands_for_a_file(self, entry: CatalogueEntry) -> bool:
        """Tell whether a moved document is found by this; one that is lost will not be again."""
        vault, path = entry.vault, entry.path
        known = settled_entries(self._catalogue, [(vault, path)])
        place = found_at(known, vault, path, entry.served)
        if place is None:
            return False
        try:
            self._files.head(vault, place)
        except NotFoundError:
            nowhere = Generation("")
            plain = replace(
                entry, sequencer=None, moved_to=ROOT, moved_over=nowhere, served=nowhere
            )
            self._catalogue.advance(plain, previous=entry)
            return False
        return True
