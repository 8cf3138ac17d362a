"""Synchronisations asked for by a user: at most one at a time for each (R23).

A lease is kept from the request to the end of the work, across invocations. A worker that dies
leaves it to end by itself; whatever is delivered under a lease that another took is dropped.
"""

import uuid
from collections.abc import Mapping
from dataclasses import replace

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.ingestion import BatchOutcome
from archivolt.domain.limits import MAX_SYNC_RUNS
from archivolt.domain.sync import SyncJob, SyncStart
from archivolt.domain.vault import VaultId, VaultRef
from archivolt.ingestion.reconcile import Reconcile, TimeLeft
from archivolt.observability import failure, logger
from archivolt.ports.sync import SyncLeases, SyncQueue
from archivolt.ports.vaults import VaultDirectory


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


class SyncWorker:
    """Does what was asked for."""

    def __init__(
        self,
        *,
        leases: SyncLeases,
        queue: SyncQueue,
        directory: VaultDirectory,
        reconcile: Reconcile,
    ) -> None:
        self._leases = leases
        self._queue = queue
        self._directory = directory
        self._reconcile = reconcile

    def run(self, jobs: Mapping[str, SyncJob], *, time_left: TimeLeft) -> BatchOutcome:
        """Work off a batch; a job that fails is delivered again, under the same lease."""
        failed: list[str] = []
        for message_id, job in jobs.items():
            try:
                self._sync(job, time_left)
            except Exception as error:  # noqa: BLE001  one job's trouble is not another's
                logger.error("a synchronisation failed", extra=failure(error))
                failed.append(message_id)
        return BatchOutcome(failed=failed)

    def _sync(self, job: SyncJob, time_left: TimeLeft) -> None:
        if not self._leases.keep(job.tenant, job.user, job.lease):
            return
        _, stopped = self._reconcile.compare(self._vaults(job), time_left=time_left)
        if stopped is not None and job.runs + 1 < MAX_SYNC_RUNS:
            # Held anew: the rest may wait as long again.
            self._leases.keep(job.tenant, job.user, job.lease)
            self._queue.send(replace(job, at=stopped.id, runs=job.runs + 1))
            return
        self._leases.give_back(job.tenant, job.user, job.lease)

    def _vaults(self, job: SyncJob) -> list[VaultRef]:
        """Return the vaults that are left, of those that user and token reach now."""
        accessible = self._directory.accessible(job.tenant, job.user)
        refs = [access.vault.ref for access in accessible]
        if job.reach is not None:
            refs = [ref for ref in refs if ref.id in job.reach]
        wanted = [ref for ref in refs if ref.id >= job.at and job.vault in {None, ref.id}]
        return sorted(wanted, key=lambda ref: ref.id)
