"""The work of a move: copy, let links follow, delete; whatever happens in between.

Every file is copied before any link is rewritten, and every link before anything is deleted: a file
is never absent from both places, and a link never leads to nothing. What is through is noted after
each few files, so that a run that was cut short is taken up where it was.

Nobody's bytes are lost. A file edited before it is deleted is copied again. Where both its places
were changed meanwhile, or another file took its new place, it stays where it was and is reported.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from archivolt.domain.errors import NotFoundError, UnavailableError
from archivolt.domain.limits import MAX_MANY_FILES_SECONDS
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag
from archivolt.ports.operations import Operation
from archivolt.vaults.many_files import files_below, is_last
from archivolt.vaults.move_steps import Move, MoveSteps, MoveStores
from archivolt.vaults.trees import directories_of

_FILES_AT_A_TIME: Final = 64

Step = Callable[[VaultPath, ETag], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveResult:
    """What a move did.

    `files` moved; links of `relinked` notes elsewhere followed, those of `unlinked` could not be
    written. `kept` are files that stay, or appeared, in the old place.
    """

    move: Move
    files: int
    relinked: int
    unlinked: Sequence[VaultPath]
    kept: Sequence[VaultPath]


class MoveRun:
    """Runs one move that has been noted, from its start or from where it stopped.

    `started` is when the call began that has to end in time.
    """

    def __init__(
        self, stores: MoveStores, operation: Operation, move: Move, *, started: datetime
    ) -> None:
        self._deadline = started + timedelta(seconds=MAX_MANY_FILES_SECONDS)
        self._files = stores.files
        self._stores = stores
        self._operation = operation
        self._vault = operation.vault
        self._move = move
        manifest = [(VaultPath(p), ETag(e)) for p, e in stores.operations.manifest(operation)]
        self._moving = [(path, etag) for path, etag in manifest if etag]
        self._linking = [(path, etag) for path, etag in manifest if not etag]
        self._steps = MoveSteps(stores, operation, move, [path for path, _ in self._moving])

    def run(self) -> MoveResult:
        """Do what is left to do.

        Raises:
            UnavailableError: `operation_unfinished`: call again to go on; or a store is down.

        """
        if not self._operation.finished:
            self._run_steps()
            self._move_directories()
            self._note(self._operation.total, finished=True)
        return self._result()

    def _run_steps(self) -> None:
        done = self._operation.done
        if 0 < done < len(self._moving) + len(self._linking):
            self._steps.recall(self._moving[:done])
        while done < self._operation.total:
            began = self._stores.clock.now()
            step, rest = self._phase(done)
            self._for_each(step, rest[:_FILES_AT_A_TIME])
            done += len(rest[:_FILES_AT_A_TIME])
            self._note(done, finished=False)
            late = is_last(began, self._stores.clock.now(), self._deadline)
            if done < self._operation.total and late:
                files = len(self._moving)
                through = files * done // self._operation.total
                raise UnavailableError("operation_unfinished", done=through, total=files)

    def _phase(self, done: int) -> tuple[Step, Sequence[tuple[VaultPath, ETag]]]:
        """Return what comes next: a step and the files left to take it with."""
        for step, items in (
            (self._steps.copy, self._moving),
            (self._steps.relink, self._linking),
            (self._steps.delete, self._moving),
        ):
            if done < len(items):
                return step, items[done:]
            done -= len(items)
        raise LookupError("no step is left")

    def _for_each(self, step: Step, items: Sequence[tuple[VaultPath, ETag]]) -> None:
        if len(items) == 1 or self._stores.threads == 1:
            for path, etag in items:
                step(path, etag)
            return
        with ThreadPoolExecutor(self._stores.threads) as pool:
            list(pool.map(step, [path for path, _ in items], [etag for _, etag in items]))

    def _move_directories(self) -> None:
        """Move what makes directories be there while they are empty."""
        if not self._move.directory:
            return
        found = directories_of(self._files, self._vault, self._move.source)
        for directory in found:
            self._files.make_directory(self._vault, self._move.moved(directory))
        for directory in reversed(found):
            self._files.remove_directory(self._vault, directory)

    def _note(self, done: int, *, finished: bool) -> None:
        now = self._stores.clock.now()
        self._stores.operations.progress(self._operation, done=done, finished=finished, now=now)

    def _result(self) -> MoveResult:
        kept = self._left_behind()
        moved = len(self._moving) - len({path for path, _ in self._moving} & set(kept))
        return MoveResult(
            move=self._move,
            files=moved,
            relinked=len(self._linking) - len(self._steps.unlinked),
            unlinked=sorted(self._steps.unlinked),
            kept=kept,
        )

    def _left_behind(self) -> list[VaultPath]:
        if self._move.directory:
            found = files_below(self._files, self._vault, self._move.source)
            return [info.path for info in found]
        try:
            return [self._files.head(self._vault, self._move.source).path]
        except NotFoundError:
            return []
