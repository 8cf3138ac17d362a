"""What was deleted is in no search from the moment the deletion is acknowledged.

The index learns of it by an event, some seconds later. A search shows only what the catalogue names
as current, so the catalogue is told here, before the caller is: a tombstone, like that which the
event leads to, and which leaves the rest of the work to it. It has no sequencer, so that every
event still counts: of the deletion, and of a file that is made anew.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from archivolt.domain.errors import NotFoundError, UnavailableError
from archivolt.domain.ingestion import CatalogueEntry, IndexState
from archivolt.domain.moves import tombstone
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore

_ATTEMPTS: Final = 6
_AT_ONCE: Final = 100


class Withdrawals:
    """Takes deleted files out of every search."""

    def __init__(self, files: FileStore, catalogue: Catalogue, clock: Clock) -> None:
        self._files = files
        self._catalogue = catalogue
        self._clock = clock

    def withdraw(self, vault: VaultRef, path: VaultPath) -> None:
        """Take a file out of every search if it is gone; one that is there again stays.

        The catalogue is read before the store is asked: who indexes the file in between, as it was
        or as it is again, changes the entry, and then both are asked once more. A tombstone that is
        there may be that of an earlier file, which the move that brought this one still points to:
        so it gets a new name.

        Raises:
            UnavailableError: The catalogue or the store is down, or others write all the time.

        """
        for _ in range(_ATTEMPTS):
            entry = self._catalogue.get(vault, path)
            if self._is_there(vault, path):
                return
            gone = tombstone(vault, path, entry, now=self._clock.now())
            if self._catalogue.advance(gone, previous=entry):
                return
        raise UnavailableError("unavailable")

    def outstanding(
        self, vault: VaultRef, paths: Sequence[VaultPath], *, since: datetime
    ) -> list[VaultPath]:
        """Return those of these files, deleted later than `since`, that a search may still show."""
        left: list[VaultPath] = []
        for start in range(0, len(paths), _AT_ONCE):
            some = paths[start : start + _AT_ONCE]
            entries = self._catalogue.get_many([(vault, path) for path in some])
            left += [path for path in some if not _is_gone(entries.get((vault, path)), since)]
        return left

    def _is_there(self, vault: VaultRef, path: VaultPath) -> bool:
        try:
            self._files.head(vault, path)
        except NotFoundError:
            return False
        return True


def _is_gone(entry: CatalogueEntry | None, since: datetime) -> bool:
    """Tell whether there is a tombstone, and not that of an earlier file."""
    if entry is None or entry.state is not IndexState.DELETED:
        return False
    return entry.updated_at >= since
