"""Renaming and moving files and directories; links follow (O55 to O57).

A move is checked and shown first (`preview`), then noted as an operation with all the files it
touches, then run. A run that was cut short goes on when it is called again under the same
confirmation, or when another one needs its places, or else when unfinished operations are swept.
Two moves never work on the same tree at once.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from archivolt.domain.confirmation import Confirmed, Preview
from archivolt.domain.errors import ConflictError, InvalidRequestError, NotFoundError
from archivolt.domain.limits import OPERATION_IDLE_SECONDS
from archivolt.domain.partial_reads import whole_etag
from archivolt.domain.paths import VaultPath, resolve_path
from archivolt.domain.vault import FileInfo, VaultAccess, VaultRef
from archivolt.ports.operations import Operation, OperationKind
from archivolt.vaults.confirmed_writes import ConfirmedWrites
from archivolt.vaults.files import require_writer
from archivolt.vaults.many_files import files_below
from archivolt.vaults.move_preview import MovePreviews
from archivolt.vaults.move_requests import MoveRequest
from archivolt.vaults.move_run import MoveResult, MoveRun
from archivolt.vaults.move_steps import Move, MoveStores
from archivolt.vaults.noted_operations import NotedOperations
from archivolt.vaults.places import Places
from archivolt.vaults.relinking import linking_notes, relocation_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MovePlan:
    """A move that was found possible, and the files that move."""

    move: Move
    files: Sequence[FileInfo]

    @property
    def moves(self) -> Mapping[VaultPath, VaultPath]:
        """Where each file goes."""
        return {info.path: self.move.moved(info.path) for info in self.files}

    @property
    def pins(self) -> Mapping[str, str]:
        """What the move is bound to: its file's version, or one digest of the whole tree."""
        if self.move.directory:
            lines = "".join(f"{info.path}\0{info.etag}\n" for info in self.files)
            digest = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
            return {f"{self.move.source}/": digest, self.move.target: ""}
        return {self.move.source: self.files[0].etag, self.move.target: ""}


class MoveService:
    """Moves what a writer of a vault asks for."""

    def __init__(self, stores: MoveStores) -> None:
        self._stores = stores
        self._operations = NotedOperations(stores.operations, stores.clock)
        self._places = Places(stores.files)
        self._writes = ConfirmedWrites(stores.files)

    def preview(
        self, access: VaultAccess, request: MoveRequest, *, etag: str | None = None
    ) -> Preview:
        """Return what a move would do: what goes where, and whose links follow.

        `etag` is that of the file, where the caller has read it.

        Raises:
            ForbiddenError: `vault_read_only`.
            NotFoundError: `file_not_found` or `directory_not_found`.
            ConflictError: `file_exists`, `directory_exists`, `path_taken`; `operation_running`;
                `conflict`: `etag` is not current.
            InvalidRequestError: `move_into_itself`; `invalid_path`: a path becomes too long.
            TooLargeError: `too_many_files`.

        """
        require_writer(access)
        self._finish_idle(access.vault.ref, request)
        plan = self._plan(access.vault.ref, request)
        if etag and not plan.move.directory and whole_etag(etag) != plan.files[0].etag:
            raise self._writes.conflict_since(access.vault.ref, request.source, whole_etag(etag))
        self._require_no_other(access.vault.ref, plan.move, "")
        notes = self._stores.present(access.vault.ref)
        previews = MovePreviews(self._stores.files, notes, access.vault.ref)
        return previews.of(plan.move, plan.files, relocation_of(plan.moves, notes), plan.pins)

    def run(self, access: VaultAccess, request: MoveRequest, confirmed: Confirmed) -> MoveResult:
        """Move; called again under the same confirmation it goes on, or tells again what it did.

        Raises what `preview` raises, and also:
            NotFoundError: `operation_not_found`: the confirmation is of another kind of change.
            ConflictError: `conflict`: the file or tree is not what was confirmed.
            UnavailableError: `operation_unfinished`: call again to go on.

        """
        require_writer(access)
        vault, started = access.vault.ref, self._stores.clock.now()
        operation = self._operations.begun(OperationKind.MOVE, vault, confirmed.operation)
        if operation is None:
            operation = self._start(access, self._plan(vault, request), confirmed)
        return self._result(operation, started)

    def resume(self, operation: Operation) -> None:
        """Go on with a move that was begun.

        Raises:
            ConflictError: `operation_running`.
            UnavailableError: `operation_unfinished`: call again to go on.

        """
        self._result(operation, self._stores.clock.now())

    def _plan(self, vault: VaultRef, request: MoveRequest) -> MovePlan:
        move = self._move(vault, request)
        if move.directory and move.target.startswith(f"{move.source}/"):
            raise InvalidRequestError("move_into_itself", path=move.source, target=move.target)
        self._require_free(vault, move)
        if not move.directory:
            return MovePlan(move=move, files=[self._stores.files.head(vault, move.source)])
        files = list(files_below(self._stores.files, vault, move.source))
        for info in files:
            resolve_path(move.moved(info.path))
        return MovePlan(move=move, files=files)

    def _require_free(self, vault: VaultRef, move: Move) -> None:
        if move.directory:
            if self._places.is_directory(vault, move.target):
                raise ConflictError("directory_exists", path=move.target)
            self._places.require_free_for_directory(vault, move.target)
            return
        if self._places.is_file(vault, move.target):
            raise ConflictError("file_exists", path=move.target)
        self._places.require_free_for_file(vault, move.target)

    def _move(self, vault: VaultRef, request: MoveRequest) -> Move:
        is_file = not request.directory and self._places.is_file(vault, request.source)
        is_directory = request.directory is not False and not is_file
        if is_directory and self._places.is_directory(vault, request.source):
            return Move(source=request.source, target=request.target, directory=True)
        if not is_file:
            missing = "directory_not_found" if request.directory else "file_not_found"
            raise NotFoundError(missing, path=request.source)
        return Move(source=request.source, target=request.target, directory=False)

    def _start(self, access: VaultAccess, plan: MovePlan, confirmed: Confirmed) -> Operation:
        """Note the move with all it will touch; nothing else may move in its trees from here on."""
        vault = access.vault.ref
        self._require_pins(vault, plan, confirmed)
        self._require_no_other(vault, plan.move, confirmed.operation)
        notes = self._stores.present(vault)
        linked = linking_notes(notes, relocation_of(plan.moves, notes))
        moving = [(str(info.path), str(info.etag)) for info in plan.files]
        linking = [(str(path), "") for path in linked]
        return self._operations.begin(
            OperationKind.MOVE,
            operation_id=confirmed.operation,
            vault=vault,
            user=access.user,
            parameters={
                "source": plan.move.source,
                "target": plan.move.target,
                "directory": "yes" if plan.move.directory else "",
            },
            manifest=moving + linking,
            total=2 * len(moving) + len(linking),
        )

    def _require_pins(self, vault: VaultRef, plan: MovePlan, confirmed: Confirmed) -> None:
        for path, now in plan.pins.items():
            pin = confirmed.pins.get(path, "")
            if pin != now and plan.move.directory:
                raise ConflictError("conflict", path=path, etag=now, diff="")
            if pin != now:
                raise self._writes.conflict_since(vault, plan.move.source, pin)

    def _result(self, operation: Operation, started: datetime) -> MoveResult:
        move = move_of(operation)
        if not operation.done and not operation.finished:
            self._give_way(operation, move)
        result = MoveRun(self._stores, operation, move, started=started).run()
        if result.kept and not move.directory:
            raise ConflictError("file_exists", path=move.target)
        return result

    def _give_way(self, operation: Operation, move: Move) -> None:
        """End a move that began while another was at work in its trees.

        Each notes itself before it looks for others: at most one of two finds none.
        """
        try:
            self._require_no_other(operation.vault, move, operation.id)
        except ConflictError:
            now = self._stores.clock.now()
            self._stores.operations.progress(operation, done=0, finished=True, now=now)
            raise

    def _require_no_other(self, vault: VaultRef, move: Move, own: str) -> None:
        for other in self._at_work(vault, (move.source, move.target)):
            if other.id != own:
                raise ConflictError("operation_running", path=_places_of(other)[0])

    def _finish_idle(self, vault: VaultRef, request: MoveRequest) -> None:
        """Finish moves in the places of this one that nobody came back for."""
        before = self._stores.clock.now() - timedelta(seconds=OPERATION_IDLE_SECONDS)
        for other in self._at_work(vault, (request.source, request.target)):
            if other.kind is OperationKind.MOVE and other.updated_at <= before:
                self.resume(other)

    def _at_work(self, vault: VaultRef, places: Sequence[str]) -> list[Operation]:
        """Return the unfinished operations that have a place in common with these."""
        return [
            other
            for other in self._stores.operations.operations(vault)
            if not other.finished
            and any(_meet(one, place) for one in _places_of(other) for place in places)
        ]


def move_of(operation: Operation) -> Move:
    """Return what an operation of this kind moves."""
    parameters = operation.parameters
    return Move(
        source=VaultPath(parameters["source"]),
        target=VaultPath(parameters["target"]),
        directory=bool(parameters["directory"]),
    )


def _places_of(operation: Operation) -> list[str]:
    """Return the trees that an operation is at work in, as far as it has some of its own."""
    if operation.kind is OperationKind.MOVE:
        return [operation.parameters["source"], operation.parameters["target"]]
    directory = operation.parameters.get("directory")
    return [directory] if directory else []


def _meet(one: str, other: str) -> bool:
    """Tell whether two places are the same, or one is inside the other."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
