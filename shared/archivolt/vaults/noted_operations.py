"""Changes of many files that are noted as they go, so that the next run finishes them."""

from collections.abc import Mapping, Sequence

from archivolt.domain.errors import NotFoundError, UnavailableError
from archivolt.domain.identity import UserId
from archivolt.domain.vault import VaultRef
from archivolt.ports.clock import Clock
from archivolt.ports.operations import Operation, OperationKind, OperationStore


class NotedOperations:
    """Begins, follows and finishes operations."""

    def __init__(self, store: OperationStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def begun(self, kind: OperationKind, vault: VaultRef, operation_id: str) -> Operation | None:
        """Return an operation if it was begun.

        Raises:
            NotFoundError: `operation_not_found`: what has this id is of another kind.

        """
        found = self._store.get(vault, operation_id)
        if found is not None and found.kind is not kind:
            raise NotFoundError("operation_not_found", operation=operation_id)
        return found

    def begin(
        self,
        kind: OperationKind,
        *,
        operation_id: str,
        vault: VaultRef,
        user: UserId,
        parameters: Mapping[str, str],
        manifest: Sequence[tuple[str, str]],
        total: int | None = None,
    ) -> Operation:
        """Note what is going to be done to which files; once, however often it is called.

        `total` is how many steps that takes, where it is not one for each file.
        """
        now = self._clock.now()
        operation = Operation(
            id=operation_id,
            vault=vault,
            user=user,
            kind=kind,
            started_at=now,
            updated_at=now,
            total=len(manifest) if total is None else total,
            parameters=parameters,
        )
        return self._store.start(operation, manifest)

    def manifest(self, operation: Operation) -> Sequence[tuple[str, str]]:
        """Return the files it is about."""
        return self._store.manifest(operation)

    def require_all(self, operation: Operation, *, left: int) -> None:
        """Note that `left` files are not done yet, if any.

        Raises:
            UnavailableError: `operation_unfinished`, with `done` and `total`.

        """
        if left:
            done, total = operation.total - left, operation.total
            self._store.progress(operation, done=done, finished=False, now=self._clock.now())
            raise UnavailableError("operation_unfinished", done=done, total=total)

    def finish(self, operation: Operation) -> None:
        """Note that all is done."""
        self._store.progress(operation, done=operation.total, finished=True, now=self._clock.now())
