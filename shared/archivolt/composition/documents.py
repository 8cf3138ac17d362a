"""The services that find and change the documents of a vault, and what finishes their work."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.vaults.finding import Finding
    from archivolt.vaults.moving import MoveService
    from archivolt.vaults.sweep import OperationSweep


class DocumentsContainer:
    """Builds and keeps them."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def finding(self) -> "Finding":
        """Advanced search, paths, tags, recents, backlinks, the graph."""
        from archivolt.vaults.finding import Finding

        return Finding(
            notes=self._on.index.note_index,
            text_index=self._on.index.text_index,
            catalogue=self._on.catalogue,
            files=self._on.file_store,
            clock=self._on.clock,
        )

    @cached_property
    def moves(self) -> "MoveService":
        """Renaming and moving files and directories."""
        from archivolt.vaults.move_steps import MoveStores
        from archivolt.vaults.moving import MoveService

        return MoveService(
            MoveStores(
                files=self._on.file_store,
                notes=self._on.index.note_index,
                operations=self._on.operations,
                clock=self._on.clock,
            )
        )

    @cached_property
    def sweep(self) -> "OperationSweep":
        """What finishes changes of many files that nobody came back for."""
        from archivolt.ports.operations import OperationKind
        from archivolt.vaults.deletions import DeletionService
        from archivolt.vaults.sweep import OperationSweep
        from archivolt.vaults.undeletion import UndeletionService

        stores = (self._on.file_store, self._on.operations, self._on.clock)
        resumptions = {
            OperationKind.MOVE: self.moves.resume,
            OperationKind.DELETE: DeletionService(*stores).resume,
            OperationKind.UNDELETE: UndeletionService(*stores).resume,
        }
        return OperationSweep(self._on.operations, resumptions, self._on.clock)
