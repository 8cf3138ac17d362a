"""Compares the store with the index, both ways, in case events or data were lost.

What it finds it gives to the code that events go through, which asks the store once more; so it may
run beside events, stop half-way and run again. A listing that fails deletes nothing. Some hundred
bytes of each document stay in memory while its vault is compared.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from archivolt.domain.ingestion import (
    CatalogueEntry,
    ChangeKind,
    EmbeddingJob,
    IndexState,
    ObjectChange,
)
from archivolt.domain.limits import MAX_LIST_LIMIT
from archivolt.domain.paths import ROOT, VaultPath, is_hidden
from archivolt.domain.vault import FileInfo, VaultRef
from archivolt.ingestion.index_change import IndexChanges
from archivolt.ingestion.orphans import Orphans
from archivolt.ingestion.vault_comparison import (
    Difference,
    Recipe,
    held_generations,
    side_by_side,
)
from archivolt.observability import failure, logger
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.index_runs import IndexRuns
from archivolt.ports.ingestion import EmbeddingQueue, VectorCache
from archivolt.ports.retrieval import TextIndex

TimeLeft = Callable[[], timedelta]

# As many as are written together at the most.
_AT_ONCE: Final = 2_000
_RESERVE: Final = timedelta(seconds=120)


@dataclass(slots=True, kw_only=True)
class Reconciliation:
    """What was found: documents compared, and what was not as it should be.

    `changed` were indexed and `gone` removed, `outdated` had older passages beside the present
    ones, `requeued` wait for their vectors again, `orphans` were in the text index and should not,
    `forgotten` are contents whose kept vectors nobody needs. `failed` counts documents,
    `failed_vaults` vaults; they are met again next time.
    `complete` is False when time ran out.
    """

    vaults: int = 0
    compared: int = 0
    changed: int = 0
    gone: int = 0
    outdated: int = 0
    requeued: int = 0
    orphans: int = 0
    forgotten: int = 0
    failed: int = 0
    failed_vaults: int = 0
    complete: bool = True


class OutOfTimeError(Exception):
    """The invocation ends soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStores:
    """Where the index of every vault is kept, and how far it is compared."""

    catalogue: Catalogue
    runs: IndexRuns
    text_index: TextIndex
    cache: VectorCache
    queue: EmbeddingQueue


class Reconcile:
    """Compares vaults of one tenant with their index."""

    def __init__(
        self,
        *,
        files: FileStore,
        stores: IndexStores,
        index_changes: IndexChanges,
        today: Recipe,
        clock: Clock,
    ) -> None:
        self._files = files
        self._stores = stores
        self._index_changes = index_changes
        self._today = today
        self._clock = clock
        self._orphans = Orphans(
            files=files,
            catalogue=stores.catalogue,
            text_index=stores.text_index,
            queue=stores.queue,
            clock=clock,
        )

    def compare(
        self, vaults: Sequence[VaultRef], *, time_left: TimeLeft
    ) -> tuple[Reconciliation, VaultRef | None]:
        """Compare some vaults; return the one to go on with too, should time run out."""
        found = Reconciliation()
        stopped: VaultRef | None = None
        for vault in vaults:
            found.vaults += 1
            try:
                self._compare(vault, found, time_left)
            except OutOfTimeError:
                found.complete = False
                stopped = vault
                break
            except Exception as error:  # noqa: BLE001  one vault's trouble is not another's
                logger.error("a vault could not be reconciled", extra=failure(error))
                found.failed_vaults += 1
        return found, stopped

    def _compare(self, vault: VaultRef, found: Reconciliation, time_left: TimeLeft) -> None:
        since = self._stores.runs.get(vault).rebuild_since
        today, failed_before = replace(self._today, since=since), found.failed
        difference = Difference(held=held_generations(self._stores.text_index.generations(vault)))
        unused = set(self._stores.cache.contents(vault))
        entries = self._stores.catalogue.entries(vault, recount=True)
        for info, entry in side_by_side(self._listed(vault), entries):
            found.compared += 1
            unused.discard(entry.sha256 if entry else "")
            difference.note(info, entry, today)
            if difference.repairable >= _AT_ONCE:
                self._repair(vault, difference, found, time_left, today)
        self._repair(vault, difference, found, time_left, today)
        found.gone += self._index(vault, ChangeKind.DELETED, difference.gone, found, time_left)
        self._remove_orphans(vault, difference, found, time_left)
        found.forgotten += self._sweep(vault, unused)
        self._stores.text_index.remove_former(vault)
        rebuilt = since if found.failed == failed_before else None
        self._stores.runs.finish(vault, now=self._clock.now(), rebuilt=rebuilt)

    def _remove_orphans(
        self, vault: VaultRef, difference: Difference, found: Reconciliation, time_left: TimeLeft
    ) -> None:
        held = list(difference.held.items())
        for start in range(0, len(held), _AT_ONCE):
            if time_left() < _RESERVE:
                raise OutOfTimeError
            found.orphans += self._orphans.remove(vault, dict(held[start : start + _AT_ONCE]))

    def _sweep(self, vault: VaultRef, unused: set[str]) -> int:
        """Forget the vectors of contents that no document has, nor came to have meanwhile."""
        if unused:
            unused -= {entry.sha256 for entry in self._stores.catalogue.entries(vault)}
        for sha256 in unused:
            self._stores.cache.forget(vault, sha256)
        return len(unused)

    def _listed(self, vault: VaultRef) -> Iterator[FileInfo]:
        after: str | None = None
        while True:
            page = self._files.list(vault, ROOT, recursive=True, limit=MAX_LIST_LIMIT, after=after)
            yield from (info for info in page.files if not is_hidden(info.path))
            after = page.next_after
            if after is None:
                return

    def _repair(
        self,
        vault: VaultRef,
        difference: Difference,
        found: Reconciliation,
        time_left: TimeLeft,
        today: Recipe,
    ) -> None:
        changed, anew = difference.changed, today.since is not None
        number = self._index(vault, ChangeKind.CREATED, changed, found, time_left, anew=anew)
        if anew and number:
            self._stores.runs.note_rebuilt(vault, documents=number)
        found.changed += number
        found.requeued += self._requeue(vault, difference.unembedded)
        self._stores.text_index.remove_older(vault, difference.outdated)
        found.outdated += len(difference.outdated)
        difference.clear()

    def _index(
        self,
        vault: VaultRef,
        kind: ChangeKind,
        paths: Sequence[VaultPath],
        found: Reconciliation,
        time_left: TimeLeft,
        *,
        anew: bool = False,
    ) -> int:
        for start in range(0, len(paths), _AT_ONCE):
            if time_left() < _RESERVE:
                raise OutOfTimeError
            changes = [
                ObjectChange(kind=kind, vault=vault, path=path, sequencer=None, anew=anew)
                for path in paths[start : start + _AT_ONCE]
            ]
            failed = self._index_changes.apply(changes, time_left=time_left)
            found.failed += len(failed)
            if failed and time_left() < _RESERVE:
                # Some may have failed for want of time alone: the next run has to meet them.
                raise OutOfTimeError
        return len(paths)

    def _requeue(self, vault: VaultRef, entries: Sequence[CatalogueEntry]) -> int:
        jobs: list[EmbeddingJob] = []
        for entry in entries:
            pending = replace(entry, state=IndexState.PENDING, sequencer=None)
            if entry.state is IndexState.PENDING or self._stores.catalogue.advance(
                pending, previous=entry
            ):
                jobs.append(
                    EmbeddingJob(
                        vault=vault, path=entry.path, generation=entry.generation, bulk=True
                    )
                )
        self._stores.queue.send(jobs)
        return len(jobs)
