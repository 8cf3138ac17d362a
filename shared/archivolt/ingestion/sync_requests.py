"""Asking for work in the background: a user's vaults (R23), the index of a vault anew."""

import uuid

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.sync import SyncJob, SyncKind, SyncStart
from archivolt.domain.vault import VaultId, VaultRef
from archivolt.ports.clock import Clock
from archivolt.ports.index_runs import IndexRuns
from archivolt.ports.sync import SyncLeases, SyncQueue


class LeasedSyncRequests:
    """`SyncRequests` that take the user's lease and queue a job."""

    def __init__(self, leases: SyncLeases, queue: SyncQueue) -> None:
        self._leases = leases
        self._queue = queue

    def request(
        self,
        tenant: TenantId,
        user: UserId,
        vault: VaultId | None = None,
        *,
        reach: frozenset[str] | None = None,
    ) -> SyncStart:
        """Have the index of a user's vaults in reach compared with their documents, or of one."""
        lease = uuid.uuid4().hex
        if not self._leases.take(tenant, user, lease):
            return SyncStart.ALREADY_RUNNING
        try:
            self._queue.send(
                SyncJob(tenant=tenant, user=user, lease=lease, vault=vault, reach=reach)
            )
        except Exception:
            self._leases.give_back(tenant, user, lease)
            raise
        return SyncStart.STARTED


class RebuildRequests:
    """Has the index of a vault made anew from its documents.

    Searches show what is there until it is replaced, piece by piece.
    """

    def __init__(self, runs: IndexRuns, queue: SyncQueue, clock: Clock) -> None:
        self._runs = runs
        self._queue = queue
        self._clock = clock

    def request(self, user: UserId, vault: VaultRef) -> SyncStart:
        """Have a vault rebuilt, on behalf of a user who may ask for it.

        Raises:
            UnavailableError: It could not be queued; asking again does it.

        """
        if not self._runs.ask_rebuild(vault, now=self._clock.now()):
            return SyncStart.ALREADY_RUNNING
        job = SyncJob(tenant=vault.tenant, user=user, kind=SyncKind.REBUILD, vault=vault.id)
        try:
            self._queue.send(job)
        except Exception:
            self._runs.release(vault)
            raise
        return SyncStart.STARTED
