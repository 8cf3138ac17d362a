"""What a move does with one file: copy it, let its links follow, delete it.

Each step may have been taken by an earlier run, wholly or not at all, and people may change files
meanwhile. A version that the move wrote carries its operation: nothing is done twice.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.limits import MAX_PARALLEL_FILES
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultRef, WriteMarks
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.notes import NoteIndex
from archivolt.ports.operations import Operation, OperationStore
from archivolt.vaults.content_types import content_type_of
from archivolt.vaults.link_rewriting import Relocation
from archivolt.vaults.many_files import files_below
from archivolt.vaults.move_marks import MoveMarks
from archivolt.vaults.present_notes import PresentNotes
from archivolt.vaults.relinking import (
    UnwritableError,
    is_note,
    moving_notes,
    read_note,
    relinked,
    relocation_of,
)

_ATTEMPTS: Final = 6
# How far the clocks of the store and of our own may be apart.
_SKEW: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What moves where: a file, or a directory with all that is in it."""

    source: VaultPath
    target: VaultPath
    directory: bool

    def moved(self, path: VaultPath) -> VaultPath:
        """Return the new path of the source or of a file below it."""
        return VaultPath(self.target + path.removeprefix(self.source))


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveStores:
    """What a move works on; `threads` files at a time."""

    files: FileStore
    catalogue: Catalogue
    notes: NoteIndex
    operations: OperationStore
    clock: Clock
    threads: int = MAX_PARALLEL_FILES

    def present(self, vault: VaultRef) -> PresentNotes:
        """Return the notes of a vault as they are now."""
        return PresentNotes(self.files, self.notes, self.clock, vault)


class MoveSteps:
    """The steps of one move, for any of its files.

    `kept` collects files that have to stay in their old place, `unlinked` notes whose links could
    not be written.
    """

    def __init__(
        self, stores: MoveStores, operation: Operation, move: Move, moving: Sequence[VaultPath]
    ) -> None:
        self._files = stores.files
        self._stores = stores
        self._operation = operation
        self._vault = operation.vault
        self._move = move
        self._moving = moving
        self._to_find = MoveMarks(
            stores.files, stores.catalogue, stores.clock, self._vault, since=operation.started_at
        )
        self._copied: dict[VaultPath, ETag] = {}
        self._known: Relocation | None = None
        self._with_links: frozenset[VaultPath] = frozenset()
        self.kept: set[VaultPath] = set()
        self.unlinked: set[VaultPath] = set()

    @property
    def _relocation(self) -> Relocation:
        """The moves and what is around them; files that keep their place are none of them."""
        if self._known is None:
            moves = {path: self._move.moved(path) for path in self._moving if path not in self.kept}
            notes = self._stores.present(self._vault)
            relocation = relocation_of(moves, notes)
            self._with_links = frozenset(moving_notes(notes, relocation))
            self._known = relocation
        return self._known

    def recall(self, copied: Sequence[tuple[VaultPath, ETag]]) -> None:
        """Find which files an earlier run had to leave in their old places, with the links to them.

        Only what is not the very content that was noted has to be looked at.
        """
        there = {info.path: info.etag for info in self._at_target()}
        unlike = [
            source
            for source, noted in copied
            if there.get(self._move.moved(source), noted) != noted
        ]
        with ThreadPoolExecutor(self._stores.threads) as pool:
            ours = pool.map(self._is_ours, map(self._move.moved, unlike))
        self.kept.update(source for source, known in zip(unlike, ours, strict=True) if not known)

    def _at_target(self) -> Iterable[FileInfo]:
        if self._move.directory:
            return files_below(self._files, self._vault, self._move.target)
        try:
            return [self._files.head(self._vault, self._move.target)]
        except NotFoundError:
            return []

    def _keep(self, source: VaultPath) -> None:
        self._to_find.keep(source)
        self.kept.add(source)
        self._known = None

    def copy(self, source: VaultPath, noted: ETag) -> None:
        """Write a file to its new place, unless that is done."""
        target = self._move.moved(source)
        self._to_find.begin(source, target)
        etag: ETag | None = noted
        for _ in range(_ATTEMPTS):
            try:
                self._copied[source] = self._write_copy(source, target, etag)
            except NotFoundError:
                return
            except ConflictError as error:
                if error.code == "file_exists":
                    if not self._is_ours(target):
                        self._keep(source)
                    return
                etag = None
            else:
                return
        self._keep(source)

    def _write_copy(self, source: VaultPath, target: VaultPath, etag: ETag | None) -> ETag:
        """Write the present content to its new place; return the ETag it was copied from."""
        if is_note(source):
            content = read_note(self._files, self._vault, source)
            etag = content.info.etag
            try:
                data = relinked(content, self._relocation, source)
            except UnwritableError:
                data = content.data
                if source in self._with_links:
                    self.unlinked.add(target)
            if data != content.data:
                kind, marks = content_type_of(target), self._marks(content.info, source)
                self._files.create(self._vault, target, data, content_type=kind, marks=marks)
                return etag
        if etag is None:
            etag = self._files.head(self._vault, source).etag
        marks = WriteMarks(operation=self._operation.id, moved_from=source)
        self._files.copy(self._vault, source, target, expected=etag, marks=marks)
        return etag

    def relink(self, path: VaultPath, _noted: ETag) -> None:
        """Let the links of a note that stays follow, unless that is done."""
        for _attempt in range(_ATTEMPTS):
            try:
                content = read_note(self._files, self._vault, path)
                if self._is_written_by_us(content.info):
                    return
                data = relinked(content, self._relocation, path)
                if data != content.data:
                    self._replace(content.info, data)
            except ConflictError:
                continue
            except NotFoundError:
                return
            except UnwritableError:
                break
            else:
                return
        self.unlinked.add(path)

    def delete(self, source: VaultPath, noted: ETag) -> None:
        """Delete a file from its old place once its new place holds what it holds."""
        target = self._move.moved(source)
        if source in self.kept:
            self._to_find.keep(source)
            return
        etag = self._copied.get(source)
        if etag is None and not self._is_ours(target):
            self._keep(source)
            return
        etag = etag or noted
        for _ in range(_ATTEMPTS):
            try:
                self._files.delete(self._vault, source, expected=etag)
            except NotFoundError:
                self._to_find.arrive(source, target)
                return
            except ConflictError:
                newer = None if self._is_another(source, etag) else self._copy_again(source, target)
                if newer is None:
                    break
                etag = newer
            else:
                self._to_find.arrive(source, target)
                return
        self._keep(source)

    def _is_another(self, source: VaultPath, known: ETag) -> bool:
        """Tell whether the file was deleted since it was `known`, and another made in its place."""
        for version in self._files.versions(self._vault, source):
            if version.deletion:
                return True
            if version.etag == known:
                return False
        return True

    def _copy_again(self, source: VaultPath, target: VaultPath) -> ETag | None:
        """Bring a copy up to what was written to the old place since; None if both changed."""
        try:
            content = self._files.read(self._vault, source)
            copy = self._files.head(self._vault, target)
        except NotFoundError:
            return None
        if copy.operation != self._operation.id:
            return None
        data = content.data
        if is_note(source):
            try:
                data = relinked(content, self._relocation, source)
            except UnwritableError:
                self.unlinked.add(target)
        try:
            self._replace(copy, data)
        except ConflictError:
            return None
        return content.info.etag

    def _replace(self, current: FileInfo, data: bytes) -> None:
        self._files.replace(
            self._vault,
            current.path,
            data,
            expected=current.etag,
            content_type=content_type_of(current.path),
            marks=self._marks(current, current.moved_from),
        )

    def _marks(self, info: FileInfo, moved_from: VaultPath) -> WriteMarks:
        operation = self._operation.id
        return WriteMarks(created=info.created, operation=operation, moved_from=moved_from)

    def _is_ours(self, target: VaultPath) -> bool:
        """Tell whether the move wrote this file, whatever became of it."""
        try:
            info = self._files.head(self._vault, target)
        except NotFoundError:
            return self._has_version_of_ours(target)
        return self._is_written_by_us(info)

    def _is_written_by_us(self, info: FileInfo) -> bool:
        if info.operation == self._operation.id:
            return True
        fresh = info.modified >= self._operation.started_at - _SKEW
        return fresh and self._has_version_of_ours(info.path)

    def _has_version_of_ours(self, path: VaultPath) -> bool:
        since = self._operation.started_at - _SKEW
        for version in self._files.versions(self._vault, path):
            if version.modified < since:
                return False
            if version.deletion:
                continue
            info = self._files.head(self._vault, path, version=version.version)
            if info.operation == self._operation.id:
                return True
        return False
