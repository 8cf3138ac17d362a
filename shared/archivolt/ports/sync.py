"""Asking for a synchronisation, and what keeps a user's from running twice at once (R23)."""

from typing import Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.sync import SyncJob, SyncStart
from archivolt.domain.vault import VaultId


class SyncRequests(Protocol):
    """Where a synchronisation is asked for; the work is done elsewhere, soon."""

    def request(
        self,
        tenant: TenantId,
        user: UserId,
        vault: VaultId | None = None,
        *,
        reach: frozenset[str] | None = None,
    ) -> SyncStart:
        """Have the index of a user's vaults compared with their documents, or of one of them.

        `reach` are the ids of the vaults that the caller's token is for; None means all.

        Raises:
            UnavailableError: It could not be queued; then nothing runs.

        """
        ...


class SyncLeases(Protocol):
    """One lease a user, that ends by itself. Every implementation passes `tests/contract`."""

    def take(self, tenant: TenantId, user: UserId, lease: str) -> bool:
        """Take the user's lease under a new name; False while another is held."""
        ...

    def keep(self, tenant: TenantId, user: UserId, lease: str) -> bool:
        """Hold a lease for its whole length again; False when it was given back or taken over.

        One that merely ended, and that nobody else took, is held again.
        """
        ...

    def give_back(self, tenant: TenantId, user: UserId, lease: str) -> None:
        """End a lease; one that is no longer held is left alone."""
        ...


class SyncQueue(Protocol):
    """Where synchronisations wait."""

    def send(self, job: SyncJob) -> None:
        """Queue a job, at least once.

        Raises:
            UnavailableError: It may not have been queued.

        """
        ...
