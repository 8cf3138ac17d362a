"""What stands around embedding: the queues and the cache of vectors by content."""

from collections.abc import Iterator, Sequence

from archivolt.domain.ingestion import EmbeddingJob
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Vector


class InMemoryQueue:
    """An `EmbeddingQueue` whose jobs a test can take out."""

    def __init__(self) -> None:
        self.jobs: list[EmbeddingJob] = []

    def send(self, jobs: Sequence[EmbeddingJob]) -> None:
        self.jobs.extend(jobs)

    def take(self) -> list[EmbeddingJob]:
        """Return the waiting jobs, fresh ones first, and empty the queue."""
        taken = sorted(self.jobs, key=lambda job: job.bulk)
        self.jobs.clear()
        return taken


class InMemoryVectorCache:
    """A `VectorCache` that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[VaultRef, str, str], list[Vector]] = {}

    def load(self, vault: VaultRef, sha256: str, fingerprint: str) -> list[Vector]:
        return self._kept.get((vault, sha256, fingerprint), [])

    def store(
        self, vault: VaultRef, sha256: str, fingerprint: str, vectors: Sequence[Vector]
    ) -> None:
        self._kept[vault, sha256, fingerprint] = [list(vector) for vector in vectors]

    def forget(self, vault: VaultRef, sha256: str) -> None:
        for key in [key for key in self._kept if key[:2] == (vault, sha256)]:
            del self._kept[key]

    def contents(self, vault: VaultRef) -> Iterator[str]:
        yield from {sha256 for owner, sha256, _ in list(self._kept) if owner == vault}
