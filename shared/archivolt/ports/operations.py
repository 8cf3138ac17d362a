"""Where changes of many files are noted, so that what a crash cut short is finished."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from archivolt.domain.identity import UserId
from archivolt.domain.vault import VaultRef


class OperationKind(StrEnum):
    """What is done to many files."""

    MOVE = "move"
    DELETE = "delete"
    UNDELETE = "undelete"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One change of many files. `parameters` are its own; `done` of `total` files are through."""

    id: str
    vault: VaultRef
    user: UserId
    kind: OperationKind
    started_at: datetime
    updated_at: datetime
    total: int
    done: int = 0
    finished: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


class OperationStore(Protocol):
    """Keeps operations. Passes `tests/contract`. All may raise `UnavailableError`."""

    def start(self, operation: Operation, manifest: Sequence[tuple[str, str]]) -> Operation:
        """Note an operation with the (path, ETag) of each file it will touch.

        Safe to repeat: the one that is noted already under this id is returned unchanged.
        """
        ...

    def manifest(self, operation: Operation) -> Sequence[tuple[str, str]]:
        """Return what was noted at its start."""
        ...

    def get(self, vault: VaultRef, operation_id: str) -> Operation | None:
        """Return an operation of a vault."""
        ...

    def progress(self, operation: Operation, *, done: int, finished: bool, now: datetime) -> None:
        """Note how far it is; what is noted never goes back, and finished stays finished."""
        ...

    def operations(self, vault: VaultRef) -> list[Operation]:
        """Return the operations of a vault, the newest first; finished ones for some days."""
        ...

    def unfinished(self) -> list[Operation]:
        """Return those of every vault that are not finished (for the sweep only)."""
        ...
