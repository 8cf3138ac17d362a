"""Where documents and directories are now that were moved, for whoever kept an address of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from archivolt.domain.moves import led_to
from archivolt.domain.paths import VaultPath, is_below
from archivolt.domain.vault import VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.files import FileStore
from archivolt.ports.operations import OperationKind, OperationStore
from archivolt.retrieval.current import entries_along_moves
from archivolt.vaults.move_steps import Move
from archivolt.vaults.moving import move_of
from archivolt.vaults.places import Places

# Of each of these the store is asked whether there is a directory again; the first count.
_MAX_DIRECTORIES: Final = 20


class MovedPaths:
    """Follows moves, as long as they are remembered.

    Those of documents the catalogue knows (`TOMBSTONE_DAYS`), and no directory: moves of these are
    operations (`OPERATION_KEPT_DAYS`).
    """

    def __init__(self, catalogue: Catalogue, operations: OperationStore, files: FileStore) -> None:
        self._catalogue = catalogue
        self._operations = operations
        self._places = Places(files)

    def now_at(
        self, access: VaultAccess, paths: Iterable[VaultPath]
    ) -> Mapping[VaultPath, VaultPath]:
        """Return for each path what stood there is now; the path itself where nobody knows."""
        vault, asked = access.vault.ref, list(paths)
        known = entries_along_moves(self._catalogue, [(vault, path) for path in asked])
        unknown = [path for path in asked if path and (vault, path) not in known]
        led = {path: led_to(known, vault, path) for path in asked}
        return {**led, **self._of_directories(vault, unknown)}

    def _of_directories(
        self, vault: VaultRef, paths: Sequence[VaultPath]
    ) -> Mapping[VaultPath, VaultPath]:
        moves = self._moves(vault) if paths else []
        carried = {path: _carried(moves, path) for path in paths}
        gone = [path for path, now in carried.items() if now != path][:_MAX_DIRECTORIES]
        return {path: carried[path] for path in gone if not self._stands(vault, path)}

    def _moves(self, vault: VaultRef) -> list[Move]:
        """Return the moves of directories that were made, the oldest first."""
        made = [
            move_of(one)
            for one in self._operations.operations(vault)
            # One that gave way to another is finished with nothing done.
            if one.kind is OperationKind.MOVE and one.finished and one.done == one.total
        ]
        return [move for move in reversed(made) if move.directory]

    def _stands(self, vault: VaultRef, path: VaultPath) -> bool:
        return self._places.is_directory(vault, path) or self._places.is_file(vault, path)


def _carried(moves: Sequence[Move], path: VaultPath) -> VaultPath:
    """Return where the newest move from a path, and what came after it, brought it."""
    newest = max((n for n, move in enumerate(moves) if is_below(path, move.source)), default=None)
    for move in moves[newest:] if newest is not None else ():
        path = move.moved(path) if is_below(path, move.source) else path
    return path
