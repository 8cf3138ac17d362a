"""Writes plans in the order that a crash between any two steps leaves repairable.

A document that has passages: the text index first (a search shows no generation that the catalogue
does not name, and the older passages stand until the catalogue has moved), then the catalogue, then
the job for its vectors, and last the older passages go. One that has none, or is gone: the
catalogue first, so that no search shows it any more, then the job, and the text index last, so that
a reconciliation sees what is left to do. What a crash leaves undone is done when the message is
delivered again, since the plan is then made anew, or by a reconciliation.

What was moved is left where it was as long as it is found by what is there (decision 44).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from archivolt.domain.ingestion import EmbeddingJob, Generation, IndexState
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ingestion.index_plan import DocumentKey, Plan
from archivolt.ingestion.moved import MovedDocuments
from archivolt.observability import failure, logger
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.ingestion import EmbeddingQueue
from archivolt.ports.retrieval import DocumentUpdate, Rewritten, TextIndex
from archivolt.retrieval.current import UnsettledError


@dataclass(slots=True)
class Written:
    """What did not go through: `failed` met an error, `refused` was overtaken by another worker."""

    failed: set[DocumentKey] = field(default_factory=set[DocumentKey])
    refused: set[DocumentKey] = field(default_factory=set[DocumentKey])

    def standing(self, plans: Iterable[Plan]) -> list[Plan]:
        """Return the plans that nothing has stopped."""
        return [plan for plan in plans if plan.key not in self.failed | self.refused]

    def fail(self, plans: Iterable[Plan], error: Exception) -> None:
        """Note an error; it stops these plans and no others."""
        logger.error("a plan could not be written", extra=failure(error))
        self.failed.update(plan.key for plan in plans)


class IndexWriter:
    """Carries out plans."""

    def __init__(
        self, *, catalogue: Catalogue, text_index: TextIndex, queue: EmbeddingQueue
    ) -> None:
        self._catalogue = catalogue
        self._text_index = text_index
        self._queue = queue
        self._moved = MovedDocuments(catalogue)

    def write(self, plans: Sequence[Plan]) -> Written:
        """Write the plans, at most one per document, and return what did not go through."""
        written = Written()
        self._touch(plans, written)
        plans = written.standing(plans)
        empty = [plan for plan in plans if not plan.entry.passages]
        full = [plan for plan in plans if plan.entry.passages]
        self._record(empty, written)
        empty = self._not_needed(written.standing(empty), written)
        self._enqueue(empty, written)
        self._apply(written.standing([*empty, *full]), written)
        self._record(written.standing(full), written)
        self._enqueue(written.standing(full), written)
        self._remove_older(self._not_needed(written.standing(full), written))
        self._release(written.standing(plans))
        return written

    def _touch(self, plans: Sequence[Plan], written: Written) -> None:
        """Say when documents were written; before the catalogue, which says that it was seen."""
        again = defaultdict[VaultRef, dict[VaultPath, Rewritten]](dict)
        for plan in plans:
            if plan.written is not None:
                again[plan.entry.vault][plan.entry.path] = plan.written
        for vault, paths in again.items():
            try:
                self._text_index.touch(vault, paths)
            except Exception as error:  # noqa: BLE001  the messages come again
                written.fail(
                    (plan for plan in plans if plan.key[0] == vault and plan.written), error
                )

    def _not_needed(self, plans: Sequence[Plan], written: Written) -> list[Plan]:
        """Leave out the paths whose passages stand for a document that was moved from them."""
        try:
            needed = self._moved.standing([plan.entry for plan in plans])
        except UnsettledError as error:
            if len(plans) == 1:
                written.fail(plans, error)
                return []
            # One of them changes all the time, perhaps: the others need not wait for it.
            half = len(plans) // 2
            parts = plans[:half], plans[half:]
            return [plan for part in parts for plan in self._not_needed(part, written)]
        except Exception as error:  # noqa: BLE001  the messages come again
            written.fail(plans, error)
            return []
        return [plan for plan in plans if plan.key not in needed]

    def _release(self, plans: Sequence[Plan]) -> None:
        """Let the passages go that stood for moved documents until these plans were written."""
        updates = defaultdict[VaultRef, list[DocumentUpdate]](list)
        older = defaultdict[VaultRef, dict[VaultPath, Generation]](dict)
        try:
            for entry in self._moved.left_behind([plan.entry for plan in plans if plan.update]):
                vault, path, generation = entry.vault, entry.path, entry.generation
                if entry.state is IndexState.DELETED:
                    gone = DocumentUpdate(path=path, generation=generation, removed=True)
                    updates[vault].append(gone)
                else:
                    older[vault][path] = generation
            for vault, changed in updates.items():
                self._text_index.apply(vault, changed)
            for vault, current in older.items():
                self._text_index.remove_older(vault, current)
        except Exception as error:  # noqa: BLE001  a reconciliation does it
            logger.warning("passages of moved documents are left", extra=failure(error))

    def _record(self, plans: Sequence[Plan], written: Written) -> None:
        for plan in plans:
            if not plan.record:
                continue
            try:
                accepted = self._catalogue.advance(plan.entry, previous=plan.previous)
            except Exception as error:  # noqa: BLE001  one document's trouble is not another's
                written.fail([plan], error)
                continue
            if not accepted:
                written.refused.add(plan.key)

    def _apply(self, plans: Sequence[Plan], written: Written) -> None:
        updates = defaultdict[VaultRef, list[DocumentUpdate]](list)
        for plan in plans:
            if plan.update is not None:
                updates[plan.entry.vault].append(plan.update)
        for vault, changed in updates.items():
            try:
                overtaken = self._text_index.apply(vault, changed)
            except Exception as error:  # noqa: BLE001  one vault's trouble is not another's
                written.fail((plan for plan in plans if plan.entry.vault == vault), error)
                continue
            # The catalogue must not name what the text index did not take.
            written.refused.update((vault, path) for path in overtaken)

    def _remove_older(self, plans: Sequence[Plan]) -> None:
        """Let passages go that the catalogue named before; no search shows them any more."""
        older = defaultdict[VaultRef, dict[VaultPath, Generation]](dict)
        for plan in plans:
            may_be_older = plan.previous is not None or plan.entry.sequencer is None
            if plan.update is not None and may_be_older:
                older[plan.entry.vault][plan.entry.path] = plan.entry.generation
        for vault, current in older.items():
            try:
                self._text_index.remove_older(vault, current)
            except Exception as error:  # noqa: BLE001  a reconciliation does it
                logger.warning("older passages are left", extra=failure(error))

    def _enqueue(self, plans: Sequence[Plan], written: Written) -> None:
        waiting = [plan for plan in plans if plan.touches_vectors]
        jobs = [
            EmbeddingJob(
                vault=plan.entry.vault,
                path=plan.entry.path,
                generation=plan.entry.generation,
                bulk=plan.bulk,
            )
            for plan in waiting
        ]
        if not jobs:
            return
        try:
            self._queue.send(jobs)
        except Exception as error:  # noqa: BLE001  the messages come again, and so the jobs
            written.fail(waiting, error)
