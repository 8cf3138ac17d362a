"""What follows when a member joins or leaves a vault: their collection is filled or emptied.

Nothing is embedded again: the vectors of the vault's contents are kept (decision 18).
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from archivolt.domain.identity import UserId
from archivolt.domain.ingestion import CatalogueEntry, EmbeddingJob
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.ingestion import EmbeddingQueue
from archivolt.ports.retrieval import VectorStore
from archivolt.ports.vaults import VaultDirectory

_JOBS_AT_ONCE: Final = 500


class Membership:
    """Brings one user's collection to their present membership of a vault."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        vectors: VectorStore,
        directory: VaultDirectory,
        queue: EmbeddingQueue,
    ) -> None:
        self._catalogue = catalogue
        self._vectors = vectors
        self._directory = directory
        self._queue = queue

    def apply(self, job: EmbeddingJob) -> None:
        """Carry out a job made by `archivolt.domain.ingestion.membership_job`."""
        members = {user for user, _ in self._directory.members(job.vault)}
        for user in job.users:
            if user in members:
                self._fill(job.vault, user)
            else:
                self._vectors.remove_vault(user, job.vault)

    def _fill(self, vault: VaultRef, user: UserId) -> None:
        jobs = (
            EmbeddingJob(
                vault=vault,
                path=entry.path,
                generation=entry.generation,
                bulk=True,
                users=(user,),
            )
            for entry in _with_passages(self._catalogue.entries(vault))
        )
        while some := list(islice(jobs, _JOBS_AT_ONCE)):
            self._queue.send(some)


def _with_passages(entries: Iterable[CatalogueEntry]) -> Iterator[CatalogueEntry]:
    return (entry for entry in entries if entry.passages)
