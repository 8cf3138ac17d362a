"""Changes of many files, noted in dictionaries."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from archivolt.domain.vault import VaultRef
from archivolt.ports.operations import Operation


class InMemoryOperations:
    """An `OperationStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._operations: dict[tuple[VaultRef, str], Operation] = {}
        self._manifests: dict[tuple[VaultRef, str], tuple[tuple[str, str], ...]] = {}

    def start(self, operation: Operation, manifest: Sequence[tuple[str, str]]) -> Operation:
        key = operation.vault, operation.id
        with self._lock:
            self._manifests.setdefault(key, tuple(manifest))
            return self._operations.setdefault(key, operation)

    def manifest(self, operation: Operation) -> Sequence[tuple[str, str]]:
        with self._lock:
            return self._manifests[operation.vault, operation.id]

    def get(self, vault: VaultRef, operation_id: str) -> Operation | None:
        with self._lock:
            return self._operations.get((vault, operation_id))

    def progress(self, operation: Operation, *, done: int, finished: bool, now: datetime) -> None:
        key = operation.vault, operation.id
        with self._lock:
            stored = self._operations[key]
            if not stored.finished and done >= stored.done:
                self._operations[key] = replace(
                    stored, done=done, finished=finished, updated_at=now
                )

    def operations(self, vault: VaultRef) -> list[Operation]:
        with self._lock:
            found = [one for one in self._operations.values() if one.vault == vault]
        return sorted(found, key=lambda one: (one.started_at, one.id), reverse=True)

    def unfinished(self) -> list[Operation]:
        with self._lock:
            return [one for one in self._operations.values() if not one.finished]
