"""Where documents are now that were moved or renamed, for whoever kept an address of them."""

from collections.abc import Iterable, Mapping

from archivolt.domain.moves import MAX_HOPS, Entries, is_there
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.retrieval.current import entries_along_moves


class MovedPaths:
    """Follows moves, as long as the catalogue remembers them (`TOMBSTONE_DAYS`)."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def now_at(
        self, access: VaultAccess, paths: Iterable[VaultPath]
    ) -> Mapping[VaultPath, VaultPath]:
        """Return for each path where its document is now; the path itself where nobody knows."""
        vault, asked = access.vault.ref, list(paths)
        known = entries_along_moves(self._catalogue, [(vault, path) for path in asked])
        return {path: _led(known, vault, path) for path in asked}


def _led(known: Entries, vault: VaultRef, path: VaultPath) -> VaultPath:
    for _ in range(MAX_HOPS):
        entry = known.get((vault, path))
        if entry is None or not entry.moved_to or is_there(entry):
            break
        path = entry.moved_to
    return path
