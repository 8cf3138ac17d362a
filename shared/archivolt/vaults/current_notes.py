"""Which notes of the index are still so: what was deleted or overtaken is not shown."""

from collections.abc import Iterable, Mapping

from archivolt.domain.ingestion import CatalogueEntry, IndexState
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.notes import Note

NoteKey = tuple[VaultRef, VaultPath]


def current_notes(catalogue: Catalogue, notes: Iterable[Note]) -> Mapping[NoteKey, CatalogueEntry]:
    """Return the catalogue's entries of those notes that may be shown, by vault and path.

    A note newer than its entry may: the index knows of a change a moment before the catalogue.

    Raises:
        UnavailableError: The catalogue cannot be read.

    """
    by_key = {(note.vault, note.path): note for note in notes}
    entries = catalogue.get_many(list(by_key))
    return {
        key: entry
        for key, entry in entries.items()
        if entry.state is not IndexState.DELETED and by_key[key].generation >= entry.generation
    }
