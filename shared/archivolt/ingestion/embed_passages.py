"""The use case of the embedding function: brings the vectors of documents to their generation.

New points are written, then older ones deleted, then the catalogue calls the document indexed: a
search shows points of the catalogue's generation alone, so it meets no double, and until they are
there its words find the document. A job that was overtaken is no work. Equal text is embedded once
per vault, however many members, paths or documents have it (decisions 18 and 43).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from archivolt.domain.embedding_key import KEY_TROUBLES
from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import UserId
from archivolt.domain.ingestion import (
    BatchOutcome,
    CatalogueEntry,
    EmbeddingJob,
    Generation,
    IndexState,
    Passage,
    is_alike,
)
from archivolt.domain.paths import ROOT
from archivolt.ingestion.documents import digest_of, embedded_text
from archivolt.ingestion.membership import Membership
from archivolt.ingestion.moved import MovedDocuments
from archivolt.observability import failure, logger
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.ingestion import EmbeddingQueue, VectorCache
from archivolt.ports.retrieval import EmbeddedDocument, Embedder, TextIndex, Vector, VectorStore
from archivolt.ports.vaults import VaultDirectory

TimeLeft = Callable[[], timedelta]

_SLICE: Final = 128
# How many points are written between two looks at the time that is left.
_POINTS_AT_ONCE: Final = 10_000
# The time that writing so many may need.
_RESERVE: Final = timedelta(seconds=30)


class EmbedPassages:
    """Works off embedding jobs."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        text_index: TextIndex,
        vectors: VectorStore,
        cache: VectorCache,
        embedder: Embedder,
        directory: VaultDirectory,
        queue: EmbeddingQueue,
    ) -> None:
        self._catalogue = catalogue
        self._text_index = text_index
        self._vectors = vectors
        self._cache = cache
        self._embedder = embedder
        self._directory = directory
        self._queue = queue
        self._moved = MovedDocuments(catalogue)
        self._membership = Membership(
            catalogue=catalogue, vectors=vectors, directory=directory, queue=queue
        )

    def run(self, jobs: Mapping[str, EmbeddingJob], *, time_left: TimeLeft) -> BatchOutcome:
        """Work off the jobs and name the messages that have to come again."""
        failed: list[str] = []
        for message_id, job in jobs.items():
            if time_left() < _RESERVE:
                failed.append(message_id)
                continue
            try:
                self._work_off(job, time_left)
            except Exception as error:  # noqa: BLE001  one document's trouble is not another's
                logger.error("an embedding job failed", extra=failure(error))
                failed.append(message_id)
        return BatchOutcome(failed=failed)

    def _embed_if_a_key_allows(
        self, job: EmbeddingJob, entry: CatalogueEntry, time_left: TimeLeft
    ) -> None:
        """Embed, or note what a document waits for: reconciliation queues it again."""
        try:
            self._embed(job, entry, time_left)
        except UnavailableError as error:
            # That one member lacks the vectors of what others have, no reconciliation knows: that
            # job has to come again. What nobody has yet, it queues for every member.
            of_one = job.users and entry.state is IndexState.INDEXED
            if error.code not in KEY_TROUBLES or of_one:
                raise
            waits = {"tenant": job.vault.tenant, "code": error.code}
            logger.warning("a document waits for an embedding key", extra=waits)
            if not entry.reason:
                self._note(entry, error.code)

    def _note(self, entry: CatalogueEntry, reason: str) -> None:
        noted = replace(entry, reason=reason, sequencer=None)
        self._catalogue.advance(noted, previous=entry)

    def _work_off(self, job: EmbeddingJob, time_left: TimeLeft) -> None:
        if job.path == ROOT:
            self._membership.apply(job)
            return
        entry = self._catalogue.get(job.vault, job.path)
        if entry is None:
            self._remove_older(job, than=job.generation)
        elif not entry.passages:
            self._remove(job, entry)
        elif entry.generation != job.generation:
            self._clear_up(job, entry)
        elif self._is_done(job, entry):
            # Who did it may have died before the last step.
            self._release(job, entry)
        else:
            self._embed_if_a_key_allows(job, entry, time_left)

    def _remove(self, job: EmbeddingJob, entry: CatalogueEntry) -> None:
        if not self._moved.vectors_stand(entry):
            self._remove_older(job, than=entry.generation)
        self._release(job, entry)

    def _release(self, job: EmbeddingJob, entry: CatalogueEntry) -> None:
        """Delete the points that stood for a document until it had its own, or was gone."""
        for former in (*self._moved.left_behind([entry]), *self._moved.left_by(entry)):
            users = self._members(job)
            self._vectors.remove_older(users, former.vault, former.path, than=former.generation)

    def _is_done(self, job: EmbeddingJob, entry: CatalogueEntry) -> bool:
        placed = entry.state is IndexState.INDEXED and entry.embedder == self._embedder.model
        return placed and not job.users

    def _embed(self, job: EmbeddingJob, entry: CatalogueEntry, time_left: TimeLeft) -> None:
        passages = self._text_index.passages(job.vault, job.path, job.generation)
        if len(passages) != entry.passages:
            self._complain_unless_overtaken(job)
            return
        vectors = self._vectors_of(entry, passages, time_left)
        if len(vectors) < len(passages):
            self._queue.send([job])
            return
        document = EmbeddedDocument(
            path=job.path, generation=job.generation, passages=passages, vectors=vectors
        )
        self._place(job, document, time_left)
        if job.users:
            self._follow(job, time_left)
            return
        if not self._moved.vectors_stand(entry):
            self._remove_older(job, than=job.generation)
        if entry.reason in KEY_TROUBLES:
            self._note(entry, "")
        if not self._catalogue.mark_embedded(
            job.vault, job.path, job.generation, embedder=self._embedder.model
        ):
            self._follow(job, time_left)
            return
        self._release(job, entry)

    def _place(self, job: EmbeddingJob, document: EmbeddedDocument, time_left: TimeLeft) -> None:
        """Write the points; who left the vault meanwhile, and was cleared before, keeps none.

        Members for whom there is no time get theirs by a job of their own.
        """
        receivers = self._receivers(job)
        at_once = max(1, _POINTS_AT_ONCE // len(document.passages))
        for start in range(0, len(receivers), at_once):
            if start and time_left() < _RESERVE:
                self._queue.send([replace(job, users=tuple(receivers[start:]))])
                receivers = receivers[:start]
                break
            self._vectors.upsert(receivers[start : start + at_once], job.vault, document)
        for user in set(receivers) - set(self._members(job)):
            self._vectors.remove_vault(user, job.vault)

    def _vectors_of(
        self, entry: CatalogueEntry, passages: Sequence[Passage], time_left: TimeLeft
    ) -> Sequence[Vector]:
        """Return the vectors of the passages; fewer of them where there was no time for all.

        Only texts that no content of the vault has are embedded. What was, is kept at once: a
        provider was paid for it, whatever comes next.
        """
        texts = {digest_of(text): text for text in map(embedded_text, passages)}
        model = self._embedder.model
        kept = self._cache.load(entry.vault, list(texts), model)
        vectors = {digest: each.vector for digest, each in kept.items()}
        unsaved = {d: each.vector for d, each in kept.items() if each.sha256 != entry.sha256}
        missing = [digest for digest in texts if digest not in kept]
        for start in range(0, len(missing), _SLICE):
            if time_left() < _RESERVE:
                break
            some = missing[start : start + _SLICE]
            made = self._embedder.embed_passages([texts[digest] for digest in some])
            new = dict(zip(some, made, strict=True))
            vectors |= new
            self._cache.store(entry.vault, entry.sha256, model, unsaved | new)
            unsaved = {}
        self._cache.store(entry.vault, entry.sha256, model, unsaved)
        digests = [digest_of(embedded_text(passage)) for passage in passages]
        return [vectors[digest] for digest in digests if digest in vectors]

    def _complain_unless_overtaken(self, job: EmbeddingJob) -> None:
        entry = self._catalogue.get(job.vault, job.path)
        if entry is not None and entry.generation == job.generation:
            raise UnavailableError("unavailable")

    def _follow(self, job: EmbeddingJob, time_left: TimeLeft) -> None:
        """Delete what was just written if a newer generation has become current meanwhile.

        Where that has the same passages they are written as its own before: none is missed.
        """
        entry = self._catalogue.get(job.vault, job.path)
        if entry is None or entry.generation == job.generation:
            return
        if is_alike(entry, job.generation):
            self._work_off(replace(job, generation=entry.generation), time_left)
            # Without time or a key there are none yet, and what was just written stands for it.
            self._clear_up(job, self._catalogue.get(job.vault, job.path) or entry)
        elif not self._moved.vectors_stand(entry):
            self._remove_older(job, than=entry.generation)

    def _clear_up(self, job: EmbeddingJob, entry: CatalogueEntry) -> None:
        """Delete what an earlier try at an overtaken job may have written before it died."""
        placed = entry.state is IndexState.INDEXED and entry.embedder == self._embedder.model
        if placed and not self._moved.vectors_stand(entry):
            self._remove_older(job, than=entry.generation)

    def _remove_older(self, job: EmbeddingJob, *, than: Generation) -> None:
        self._vectors.remove_older(self._receivers(job), job.vault, job.path, than=than)

    def _receivers(self, job: EmbeddingJob) -> list[UserId]:
        return [user for user in self._members(job) if not job.users or user in job.users]

    def _members(self, job: EmbeddingJob) -> list[UserId]:
        return [user for user, _ in self._directory.members(job.vault)]
