"""Where documents are now that were moved or renamed, for whoever kept an address of them."""

from collections.abc import Iterable, Mapping

from archivolt.domain.moves import MAX_HOPS, is_there
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultAccess
from archivolt.ports.catalogue import Catalogue


class MovedPaths:
    """Follows moves, as long as the catalogue remembers them (`TOMBSTONE_DAYS`)."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def now_at(
        self, access: VaultAccess, paths: Iterable[VaultPath]
    ) -> Mapping[VaultPath, VaultPath]:
        """Return for each path where its document is now; the path itself where nobody knows."""
        where = {path: path for path in paths}
        for _ in range(MAX_HOPS):
            keys = [(access.vault.ref, path) for path in dict.fromkeys(where.values())]
            onward = {
                path: entry.moved_to
                for (_, path), entry in self._catalogue.get_many(keys).items()
                if entry.moved_to and not is_there(entry)
            }
            if not onward:
                break
            where = {path: onward.get(at, at) for path, at in where.items()}
        return where
