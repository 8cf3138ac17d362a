"""The services that find and change the documents of a vault, and what finishes their work."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from archivolt.bootstrap import Container
    from archivolt.ports.operations import OperationKind
    from archivolt.vaults.changing import Changing
    from archivolt.vaults.finding import Finding
    from archivolt.vaults.moving import MoveService
    from archivolt.vaults.sweep import Resume


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
            patterns=self._on.index.patterns,
            clock=self._on.clock,
        )

    @cached_property
    def changing(self) -> "Changing":
        """Edits, front matter, deletions, backups and replacements."""
        from archivolt.vaults.changing import Changing

        return Changing(
            files=self._on.file_store,
            catalogue=self._on.catalogue,
            operations=self._on.operations,
            notes=self._on.index.note_index,
            patterns=self._on.index.patterns,
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
                catalogue=self._on.catalogue,
                notes=self._on.index.note_index,
                operations=self._on.operations,
                clock=self._on.clock,
            )
        )

    @cached_property
    def resumptions(self) -> "Mapping[OperationKind, Resume]":
        """What goes on with changes of many files that broke off."""
        from archivolt.ports.operations import OperationKind

        return {
            OperationKind.MOVE: self.moves.resume,
            OperationKind.DELETE: self.changing.deletions.resume,
            OperationKind.UNDELETE: self.changing.undeletions.resume,
        }
