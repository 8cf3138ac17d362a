"""Deleting a file or a directory (O59, O60): what is deleted stays in its versions."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from archivolt.domain.confirmation import Affected, Change, Confirmed, Preview
from archivolt.domain.errors import (
    ConflictError,
    NotFoundError,
)
from archivolt.domain.language import Message
from archivolt.domain.limits import MAX_INLINE_CONTENT_BYTES, MAX_SHOWN_FILES
from archivolt.domain.partial_reads import whole_etag
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.operations import Operation, OperationKind, OperationStore
from archivolt.vaults.confirmed_writes import NO_FILE, ConfirmedWrites, pin_of
from archivolt.vaults.diffs import redacted_diff
from archivolt.vaults.files import require_writer
from archivolt.vaults.many_files import deadline_of, files_below, work_through
from archivolt.vaults.mutations import with_note
from archivolt.vaults.noted_operations import NotedOperations
from archivolt.vaults.text_form import TextForm
from archivolt.vaults.tree_pins import PinnedTree, tree_pins
from archivolt.vaults.withdrawals import Withdrawals

_DIRECTORY: Final = "directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedDirectory:
    """What became of a directory: of the files that were kept, the first ones are named."""

    deleted: int
    kept: int
    kept_files: Sequence[VaultPath] = field(default_factory=list[VaultPath])


class DeletionService:
    """Deletes for a caller who may write; others get `ForbiddenError` `vault_read_only`.

    Once a deletion has returned, no search shows what it deleted.
    """

    def __init__(
        self, store: FileStore, operations: OperationStore, catalogue: Catalogue, clock: Clock
    ) -> None:
        self._store = store
        self._withdrawals = Withdrawals(store, catalogue, clock)
        self._writes = ConfirmedWrites(store)
        self._operations = NotedOperations(operations, clock)
        self._clock = clock

    def preview_delete(
        self, access: VaultAccess, path: VaultPath, *, etag: str | None = None
    ) -> Preview:
        """Return what `delete` would do.

        Raises:
            NotFoundError: `file_not_found`.
            ConflictError: `conflict`: `etag` is given and not current.

        """
        require_writer(access)
        info = self._store.head(access.vault.ref, path)
        if etag and whole_etag(etag) != info.etag:
            raise self._writes.conflict_since(access.vault.ref, path, whole_etag(etag))
        form = None
        if info.size <= MAX_INLINE_CONTENT_BYTES:
            form = TextForm.of(self._store.read(access.vault.ref, path).data)
        diff = redacted_diff(form.text if form else "", "", old_name=path, new_name=NO_FILE)
        summary = Message(
            f"Delete the file {path}; it can be restored from its backups.",
            f"Supprimer le fichier {path} ; il peut être restauré depuis ses sauvegardes.",
        )
        return Preview(
            summary=with_note(summary, diff),
            diff=diff.text,
            affected=[Affected(path=path, change=Change.DELETE)],
            affected_total=1,
            pins=pin_of(info, path),
        )

    def delete(self, access: VaultAccess, path: VaultPath, confirmed: Confirmed) -> None:
        """Delete the version that was confirmed; one that is deleted already stays so.

        Raises:
            NotFoundError: `file_not_found`.
            ConflictError: `conflict`: another version is current; with `etag` and `diff`.
            UnavailableError: Searches may still show it; call again.

        """
        require_writer(access)
        self._delete_file(access.vault.ref, path, confirmed)
        self._withdrawals.withdraw(access.vault.ref, path)

    def _delete_file(self, vault: VaultRef, path: VaultPath, confirmed: Confirmed) -> None:
        pin = whole_etag(confirmed.pins.get(path, ""))
        if confirmed.resumed and any(self._deletions(vault, path, pin)):
            return
        try:
            self._store.delete(vault, path, expected=pin)
        except (NotFoundError, ConflictError) as error:
            if next(self._deletions(vault, path, pin), False):
                return
            if isinstance(error, NotFoundError):
                raise
            raise self._writes.conflict_since(vault, path, pin) from error

    def _deletions(self, vault: VaultRef, path: VaultPath, pin: ETag) -> Iterator[bool]:
        """Tell of each version of this ETag, the newest first, whether it was deleted as it was.

        A content that was brought back has the ETag that it had when it was deleted.
        """
        above = False
        for version in self._store.versions(vault, path):
            if version.etag == pin and not version.deletion:
                yield above
            above = version.deletion

    def preview_delete_directory(
        self, access: VaultAccess, path: VaultPath, *, recursive: bool
    ) -> Preview:
        """Return what `delete_directory` would do; it raises what that raises."""
        require_writer(access)
        files = self._files(access.vault.ref, path, recursive=recursive)
        size = sum(file.size for file in files)
        return Preview(
            summary=Message(
                f"Delete the directory {path} and all that is in it (files: {len(files)}, bytes: "
                f"{size}); the files can be restored.",
                f"Supprimer le dossier {path} et tout son contenu (fichiers : {len(files)}, "
                f"octets : {size}) ; les fichiers peuvent être restaurés.",
            ),
            affected=[
                Affected(path=file.path, change=Change.DELETE) for file in files[:MAX_SHOWN_FILES]
            ]
            or [Affected(path=f"{path}/", change=Change.DELETE)],
            affected_total=max(1, len(files)),
            pins=tree_pins(path, files),
        )

    def delete_directory(
        self, access: VaultAccess, path: VaultPath, confirmed: Confirmed, *, recursive: bool
    ) -> DeletedDirectory:
        """Delete a directory with the files that were confirmed.

        Files that were added or changed since are kept, and so are the directories they are in.

        Raises:
            NotFoundError: `directory_not_found`.
            ConflictError: `directory_not_empty`: it has entries, and not `recursive`.
            TooLargeError: `too_many_files`.
            UnavailableError: `operation_unfinished`, with `done` and `total`: call again to go on.

        """
        require_writer(access)
        vault = access.vault.ref
        operation = self._operations.begun(OperationKind.DELETE, vault, confirmed.operation)
        if operation is None:
            pinned = PinnedTree(path, confirmed.pins)
            files = self._files(vault, path, recursive=recursive)
            manifest = [(file.path, file.etag) for file in files if pinned.has(file)]
            operation = self._operations.begin(
                OperationKind.DELETE,
                operation_id=confirmed.operation,
                vault=vault,
                user=access.user,
                parameters={_DIRECTORY: path},
                manifest=manifest,
            )
        return self.resume(operation)

    def resume(self, operation: Operation) -> DeletedDirectory:
        """Go on with a deletion that was begun.

        Raises:
            UnavailableError: `operation_unfinished`, with `done` and `total`.

        """
        vault, path = operation.vault, VaultPath(operation.parameters[_DIRECTORY])
        deadline = deadline_of(self._clock)
        manifest = self._operations.manifest(operation)
        if not operation.finished:
            self._delete_files(operation, manifest, deadline)
            self._remove_directories(vault, path)
            self._operations.finish(operation)
        present = [file.path for file in files_below(self._store, vault, path)]
        again = set(present).intersection(place for place, _ in manifest)
        return DeletedDirectory(
            deleted=operation.total - len(again),
            kept=len(present),
            kept_files=present[:MAX_SHOWN_FILES],
        )

    def _files(self, vault: VaultRef, path: VaultPath, *, recursive: bool) -> list[FileInfo]:
        page = self._store.list(vault, path, recursive=False, limit=1)
        if not page.exists:
            raise NotFoundError("directory_not_found", path=path)
        if not recursive and (page.files or page.directories):
            raise ConflictError("directory_not_empty", path=path)
        return list(files_below(self._store, vault, path))

    def _delete_files(
        self, operation: Operation, manifest: Sequence[tuple[str, str]], deadline: datetime
    ) -> None:
        vault, path = operation.vault, VaultPath(operation.parameters[_DIRECTORY])
        present = {file.path: file.etag for file in files_below(self._store, vault, path)}
        files = [(VaultPath(p), ETag(etag)) for p, etag in manifest]
        gone = [p for p, _ in files if p not in present]
        left = [(p, etag) for p, etag in files if present.get(p) == etag]
        # An earlier run may have died between a file's deletion and its withdrawal.
        outstanding = self._withdrawals.outstanding(vault, gone, since=operation.started_at)
        left += [(p, ETag("")) for p in outstanding]
        deleted = work_through(
            left,
            lambda file: self._delete_if_same(vault, *file),
            clock=self._clock,
            deadline=deadline,
        )
        self._operations.require_all(operation, left=len(left) - len(deleted))

    def _delete_if_same(self, vault: VaultRef, path: VaultPath, etag: ETag) -> None:
        with suppress(NotFoundError, ConflictError):
            # Gone already, or changed just now: then it is kept.
            if etag:
                self._store.delete(vault, path, expected=etag)
        self._withdrawals.withdraw(vault, path)

    def _remove_directories(self, vault: VaultRef, path: VaultPath) -> bool:
        """Remove the directories in which nothing is left; tell whether this one was."""
        empty = True
        after: str | None = None
        while True:
            page = self._store.list(vault, path, recursive=False, limit=1_000, after=after)
            below = [self._remove_directories(vault, directory) for directory in page.directories]
            empty = empty and not page.files and all(below)
            after = page.next_after
            if after is None:
                break
        if empty:
            self._store.remove_directory(vault, path)
        return empty
