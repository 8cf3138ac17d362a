"""Bringing back the deleted files of a directory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from archivolt.domain.confirmation import Affected, Change, Confirmed
from archivolt.domain.errors import ConflictError, NotFoundError, TooLargeError
from archivolt.domain.limits import MAX_LIST_LIMIT, MAX_SHOWN_FILES, MAX_TREE_FILES
from archivolt.domain.paths import VaultPath, parents_of
from archivolt.domain.vault import DeletedFile, ETag, VaultAccess, VaultRef, WriteMarks
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.operations import Operation, OperationKind, OperationStore
from archivolt.vaults.files import require_writer
from archivolt.vaults.many_files import deadline_of, files_below, work_through
from archivolt.vaults.noted_operations import NotedOperations
from archivolt.vaults.places import Places

_DIRECTORY: Final = "directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undeleted:
    """How many files are there again, and the first of those that are not, with the reason."""

    restored: int
    skipped: Sequence[Affected] = field(default_factory=list[Affected])


class UndeletionService:
    """Undeletes for a caller who may write; others get `ForbiddenError` `vault_read_only`."""

    def __init__(self, store: FileStore, operations: OperationStore, clock: Clock) -> None:
        self._store = store
        self._places = Places(store)
        self._operations = NotedOperations(operations, clock)
        self._clock = clock

    def undelete_directory(
        self,
        access: VaultAccess,
        directory: VaultPath,
        confirmed: Confirmed,
        *,
        since: datetime | None = None,
    ) -> Undeleted:
        """Bring back what was deleted below a directory, each file with its last content.

        With `since`, only what was deleted then or later. Files that exist again stay as they are.

        Raises:
            NotFoundError: `directory_not_found`: nothing was deleted there.
            TooLargeError: `too_many_files`.
            UnavailableError: `operation_unfinished`, with `done` and `total`: call again to go on.

        """
        require_writer(access)
        vault = access.vault.ref
        operation = self._operations.begun(OperationKind.UNDELETE, vault, confirmed.operation)
        if operation is None:
            files = list(self._deleted(vault, directory, since))
            if not files:
                raise NotFoundError("directory_not_found", path=directory)
            operation = self._operations.begin(
                OperationKind.UNDELETE,
                operation_id=confirmed.operation,
                vault=vault,
                user=access.user,
                parameters={_DIRECTORY: directory},
                manifest=[(file.path, f"{file.version} {file.etag}") for file in files],
            )
        return self.resume(operation)

    def resume(self, operation: Operation) -> Undeleted:
        """Go on with an undeletion that was begun.

        Raises:
            UnavailableError: `operation_unfinished`, with `done` and `total`.

        """
        vault, directory = operation.vault, VaultPath(operation.parameters[_DIRECTORY])
        deadline = deadline_of(self._clock)
        manifest = self._operations.manifest(operation)
        present = {file.path for file in files_below(self._store, vault, directory)}
        left = [entry for entry in manifest if entry[0] not in present]
        if operation.finished:
            # What was deleted again since stays so.
            return Undeleted(restored=operation.total - len(left))
        above = [*parents_of(directory), directory]
        files = present.union(path for path in above if path and self._places.is_file(vault, path))
        directories = {parent for path in present for parent in parents_of(path)}
        outcomes = work_through(
            left,
            lambda entry: self._restore(operation, *entry, files=files, directories=directories),
            clock=self._clock,
            deadline=deadline,
        )
        self._operations.require_all(operation, left=len(left) - len(outcomes))
        self._operations.finish(operation)
        skipped = [outcome for outcome in outcomes if outcome is not None]
        return Undeleted(restored=operation.total - len(skipped), skipped=skipped[:MAX_SHOWN_FILES])

    def _restore(
        self,
        operation: Operation,
        name: str,
        content: str,
        *,
        files: set[VaultPath],
        directories: set[VaultPath],
    ) -> Affected | None:
        path, (version, _, etag) = VaultPath(name), content.partition(" ")
        if path in directories or not files.isdisjoint(parents_of(path)):
            return Affected(path=path, change=Change.SKIP, reason="name_taken")
        try:
            self._store.copy(
                operation.vault,
                path,
                path,
                expected=ETag(etag),
                version=version,
                marks=WriteMarks(operation=operation.id),
            )
        except ConflictError:
            return None  # it is there again: by an earlier attempt, or by somebody's hand
        except NotFoundError:
            return Affected(path=path, change=Change.SKIP, reason="version_gone")
        return None

    def _deleted(
        self, vault: VaultRef, directory: VaultPath, since: datetime | None
    ) -> Iterator[DeletedFile]:
        after: str | None = None
        count = 0
        while True:
            page = self._store.deleted(vault, directory, limit=MAX_LIST_LIMIT, after=after)
            files = [file for file in page.files if since is None or file.deleted_at >= since]
            count += len(files)
            if count > MAX_TREE_FILES:
                raise TooLargeError("too_many_files", count=count, limit=MAX_TREE_FILES)
            yield from files
            after = page.next_after
            if after is None:
                return
