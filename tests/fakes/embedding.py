"""What stands around embedding: the queues and the cache of vectors."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from archivolt.domain.ingestion import EmbeddingJob
from archivolt.domain.vault import VaultRef
from archivolt.ports.ingestion import KeptVector
from archivolt.ports.retrieval import Vector


class InMemoryQueue:
    """An `EmbeddingQueue` whose jobs a test can take out."""

    def __init__(self) -> None:
        self.jobs: list[EmbeddingJob] = []
        self.later: list[EmbeddingJob] = []

    def send(self, jobs: Sequence[EmbeddingJob]) -> None:
        self.jobs.extend(jobs)

    def send_later(self, jobs: Sequence[EmbeddingJob], *, after: timedelta) -> None:
        self.later.extend(jobs)

    def take(self) -> list[EmbeddingJob]:
        """Return the waiting jobs, fresh ones first, and empty the queue."""
        taken = sorted(self.jobs, key=lambda job: job.bulk)
        self.jobs.clear()
        return taken


class InMemoryVectorCache:
    """A `VectorCache` that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[VaultRef, str, str], KeptVector] = {}
        self._contents: dict[tuple[VaultRef, str], set[tuple[str, str]]] = {}

    def load(self, vault: VaultRef, digests: Sequence[str], model: str) -> Mapping[str, KeptVector]:
        keys = {digest: (vault, model, digest) for digest in digests}
        return {digest: self._kept[key] for digest, key in keys.items() if key in self._kept}

    def store(
        self, vault: VaultRef, sha256: str, model: str, vectors: Mapping[str, Vector]
    ) -> None:
        for digest, vector in vectors.items():
            self._kept[vault, model, digest] = KeptVector(vector=list(vector), sha256=sha256)
            self._contents.setdefault((vault, sha256), set()).add((model, digest))

    def forget(self, vault: VaultRef, sha256: str) -> None:
        for model, digest in self._contents.pop((vault, sha256), set()):
            if self._kept[vault, model, digest].sha256 == sha256:
                del self._kept[vault, model, digest]

    def contents(self, vault: VaultRef) -> Iterator[str]:
        yield from [sha256 for owner, sha256 in list(self._contents) if owner == vault]
