"""What was read of a document before it moved serves where it went: a scan is not read twice."""

from typing import Final

from archivolt.domain.ingestion import IndexState
from archivolt.domain.paths import VaultPath, name_of
from archivolt.domain.vault import FileInfo, VaultRef
from archivolt.ingestion.documents import Reading, links_of
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.notes import NoteIndex
from archivolt.ports.retrieval import TextIndex

# Smaller ones are read faster than what is known of them is fetched.
_LEAST_BYTES: Final = 32_000


class MovedReadings:
    """Finds them in the index, where they stay until the new place has its own."""

    def __init__(self, catalogue: Catalogue, text_index: TextIndex, notes: NoteIndex) -> None:
        self._catalogue = catalogue
        self._text_index = text_index
        self._notes = notes

    def find(self, vault: VaultRef, info: FileInfo, *, sha256: str, recipe: str) -> Reading | None:
        """Return what was read of the very content that a file has, by the same recipe.

        Raises:
            UnavailableError: The catalogue or the index is down.

        """
        source = info.moved_from
        if not source or info.size < _LEAST_BYTES or _ending(source) != _ending(info.path):
            return None
        entry = self._catalogue.get(vault, source)
        if entry is None or (entry.sha256, entry.recipe) != (sha256, recipe):
            return None
        if entry.reason and entry.state is not IndexState.DELETED:
            # What could not be read of it may say why only when it is read.
            return None
        generation = entry.served or entry.generation
        passages = self._text_index.passages(vault, source, generation)
        text = self._notes.text(vault, source)
        # Asked last: what takes the place meanwhile has a generation of its own.
        note = self._notes.notes(vault, [source]).get(source)
        if not passages or note is None or note.generation != generation:
            return None
        return Reading(
            state=IndexState.PENDING,
            title=entry.title,
            tags=entry.tags,
            passages=passages,
            text=text,
            links=links_of(info.path, text or ""),
        )


def _ending(path: VaultPath) -> str:
    return name_of(path).rpartition(".")[2].lower()
