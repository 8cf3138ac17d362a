"""Which notes of the index are still so: what was deleted or overtaken is not shown."""

from collections.abc import Iterable, Mapping

from archivolt.domain.ingestion import CatalogueEntry
from archivolt.domain.moves import gives_way, has_arrived, is_there
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.notes import Note
from archivolt.retrieval.current import entries_for_showing

NoteKey = tuple[VaultRef, VaultPath]


def current_notes(catalogue: Catalogue, notes: Iterable[Note]) -> Mapping[NoteKey, CatalogueEntry]:
    """Return the catalogue's entries of those notes that may be shown, by vault and path.

    A note newer than its entry may: the index knows of a change a moment before the catalogue. Of
    one that a move carries, the new place is shown as soon as it is known.

    Raises:
        UnavailableError: The catalogue cannot be read.

    """
    by_key = {(note.vault, note.path): note for note in notes}
    entries = entries_for_showing(catalogue, by_key)
    return {
        key: entry
        for key, note in by_key.items()
        if (entry := entries.get(key)) is not None
        and is_there(entry)
        and note.generation >= entry.generation
        and not has_arrived(entries, entry)
        and not gives_way(entries, entry)
    }
