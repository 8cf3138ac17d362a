"""What the workers owe to documents that a move carries (decision 44).

The passages and vectors of an old path stay as long as they stand for the document in its new one.
Whichever of the two paths is dealt with last removes them: each first writes what it knows into the
catalogue, and then looks at the other. What a crash leaves, no search shows, and reconciliation
removes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from archivolt.domain.errors import NotFoundError
from archivolt.domain.ingestion import CatalogueEntry, Generation
from archivolt.domain.moves import (
    MAX_HOPS,
    Entries,
    Place,
    awaited_by,
    departed,
    edited_amid,
    found_at,
    is_leaving,
    is_moving,
    is_there,
    remembering,
    stands_elsewhere,
    was_edited_amid,
)
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.files import FileStore
from archivolt.retrieval.current import settled_entries

_NOWHERE: Final = Generation("")


class MovedDocuments:
    """Asks the catalogue; every method may raise `UnavailableError`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def standing(self, entries: Sequence[CatalogueEntry]) -> frozenset[Place]:
        """Return those paths whose passages stand for documents that were moved from them."""
        moved = [entry for entry in entries if entry.served]
        known = self._along(moved)
        return frozenset(_place(entry) for entry in moved if stands_elsewhere(known, entry))

    def vectors_stand(self, entry: CatalogueEntry) -> bool:
        """Tell whether the vectors of a path stand for a document that was moved from it."""
        if not entry.served:
            return False
        known, left = self._along([entry]), entry
        for _ in range(MAX_HOPS):
            if stands_elsewhere(known, left):
                return True
            copy = awaited_by(known, left)
            if copy is None or is_there(copy):
                # What came back is given vectors of its own.
                return copy is not None and copy.path != entry.path
            left = copy
        return False

    def left_behind(self, entries: Sequence[CatalogueEntry]) -> list[CatalogueEntry]:
        """Return the former places of these documents, those whose passages stand for nobody."""
        # The tombstone of one that moved on tells where it came from, too.
        arrived = {
            _place(entry): entry for entry in entries if entry.moved_from and is_there(entry)
        }
        if not arrived:
            return []
        known = settled_entries(self._catalogue, self._came_from(arrived.values()))
        former = _led_to(set(arrived), known)
        return [entry for entry in former if not stands_elsewhere(known, entry)]

    def left_by(self, gone: CatalogueEntry) -> list[CatalogueEntry]:
        """Return the former places of a document that is gone, those whose vectors are nobody's."""
        if is_there(gone) or not gone.moved_from:
            return []
        known = settled_entries(self._catalogue, self._came_from([gone]))
        return [entry for entry in _led_to({_place(gone)}, known) if not self.vectors_stand(entry)]

    def _came_from(self, arrived: Iterable[CatalogueEntry]) -> list[Place]:
        """Return where documents were before; of one that moved on before it was indexed, all."""
        places = [(entry.vault, entry.moved_from) for entry in arrived]
        following = set(places)
        for _ in range(MAX_HOPS):
            # Whoever is there was indexed there, and let its former places go then.
            some = self._catalogue.get_many(list(following)).values()
            passed = (entry for entry in some if not is_there(entry) and entry.moved_from)
            following = {(entry.vault, entry.moved_from) for entry in passed} - set(places)
            if not following:
                break
            places += following
        return places

    def _along(self, entries: Sequence[CatalogueEntry]) -> Entries:
        return settled_entries(self._catalogue, map(_place, entries))


class MoveMemory:
    """Lets an entry tell what the one before it told of a move, as long as need be."""

    def __init__(self, files: FileStore, catalogue: Catalogue) -> None:
        self._files = files
        self._catalogue = catalogue

    def of_present(self, entry: CatalogueEntry, stored: CatalogueEntry | None) -> CatalogueEntry:
        """Return the entry of a document that is there, in place of the one that is stored."""
        if stored is None or not stored.moved_to:
            return remembering(entry, stored)
        if not is_there(stored) and is_leaving(stored):
            return remembering(entry, stored)
        if is_moving(stored):
            # What was edited since is not what was copied: it is found by itself.
            edited = was_edited_amid(stored) or entry.sha256 != stored.sha256
            return edited_amid(entry, stored) if edited else remembering(entry, stored)
        known = settled_entries(self._catalogue, [_place(stored)])
        place = found_at(known, stored.vault, stored.path, stored.served)
        if place is not None and self._is_there(stored.vault, place):
            return remembering(entry, stored)
        if awaited_by(known, stored) is not None:
            # Its vectors stand for the copy until that has its own.
            return remembering(entry, stored)
        nothing = replace(stored, moved_to=ROOT, moved_over=_NOWHERE, served=_NOWHERE)
        if not is_there(stored):
            # The vectors of what left are let go: they stand for nothing that is put here now.
            entry = replace(entry, embedder="", alike_since=_NOWHERE)
        return remembering(entry, nothing)

    def of_gone(self, entry: CatalogueEntry, stored: CatalogueEntry | None) -> CatalogueEntry:
        """Return the tombstone of a document; it tells where a move of ours has brought it."""
        if stored is None or not stored.moved_to:
            return entry
        gone = stored
        if is_leaving(stored):
            if not self._was_brought(stored):
                return entry
            gone = departed(
                stored.vault,
                stored.path,
                stored,
                to=stored.moved_to,
                over=stored.moved_over,
                now=entry.updated_at,
            )
        elif is_there(stored):
            return remembering(entry, stored)
        return replace(
            gone,
            updated_at=entry.updated_at,
            sequencer=entry.sequencer,
            generation=entry.generation,
            reason=entry.reason,
        )

    def _was_brought(self, moving: CatalogueEntry) -> bool:
        """Tell whether the copy is in the new place, and not a file that others made there."""
        try:
            info = self._files.head(moving.vault, moving.moved_to)
        except NotFoundError:
            return False
        return info.moved_from == moving.path

    def _is_there(self, vault: VaultRef, path: VaultPath) -> bool:
        try:
            self._files.head(vault, path)
        except NotFoundError:
            return False
        return True


def _led_to(places: set[Place], known: Entries) -> list[CatalogueEntry]:
    """Return those of the known that were moved to these places, and from where they came."""
    led_here = set(places)
    former: list[CatalogueEntry] = []
    for _ in range(MAX_HOPS):
        found = [
            entry
            for entry in known.values()
            if entry.served
            and (entry.vault, entry.moved_to) in led_here
            and _place(entry) not in led_here
        ]
        if not found:
            break
        former += found
        led_here |= set(map(_place, found))
    return former


def _place(entry: CatalogueEntry) -> Place:
    return entry.vault, entry.path
