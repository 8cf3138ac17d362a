"""Synchronisations in the background: a user's vaults (R23), a new one's own, a vault anew, all.

What a user asks for runs at most once at a time for each of them. A lease is kept from the request
to the end of the work, across invocations. A worker that dies leaves it to end by itself; whatever
is delivered under a lease that another took is dropped. The other kinds may meet themselves: they
are asked for once, and doing one twice changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.ingestion import BatchOutcome
from archivolt.domain.limits import MAX_SYNC_RUNS
from archivolt.domain.sync import SyncJob, SyncKind
from archivolt.domain.vault import VaultRef
from archivolt.ingestion.reconcile import Reconcile, TimeLeft
from archivolt.observability import failure, logger
from archivolt.ports.sync import SyncLeases, SyncQueue
from archivolt.ports.vaults import VaultDirectory

MakePersonalVault = Callable[[TenantId, UserId], VaultRef]


class SyncWorker:
    """Does what was asked for.

    Args:
        leases: Of users.
        queue: Where what runs out of time goes on.
        directory: Vaults and members.
        reconcile: Compares a vault with its index.
        personal: Gives a user their own vault.

    """

    def __init__(
        self,
        *,
        leases: SyncLeases,
        queue: SyncQueue,
        directory: VaultDirectory,
        reconcile: Reconcile,
        personal: MakePersonalVault,
    ) -> None:
        self._leases = leases
        self._queue = queue
        self._directory = directory
        self._reconcile = reconcile
        self._personal = personal

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
        if not self._holds(job):
            return
        found, stopped = self._reconcile.compare(self._vaults(job), time_left=time_left)
        logger.info("synchronised", extra={"found": str(found)})
        if stopped is not None and job.runs + 1 < MAX_SYNC_RUNS:
            # Held anew: the rest may wait as long again.
            self._holds(job)
            self._queue.send(replace(job, at=stopped.id, runs=job.runs + 1))
            return
        if job.kind is SyncKind.ASKED:
            self._leases.give_back(job.tenant, job.user, job.lease)

    def _holds(self, job: SyncJob) -> bool:
        return job.kind is not SyncKind.ASKED or self._leases.keep(job.tenant, job.user, job.lease)

    def _vaults(self, job: SyncJob) -> list[VaultRef]:
        """Return the vaults that are left, of those that user and token reach now."""
        if job.kind is SyncKind.FIRST:
            return [self._personal(job.tenant, job.user)]
        if job.kind is SyncKind.REBUILD:
            return [VaultRef(tenant=job.tenant, id=job.vault)] if job.vault else []
        if job.kind is SyncKind.TENANT:
            return [ref for ref in self._directory.refs(job.tenant) if ref.id >= job.at]
        accessible = self._directory.accessible(job.tenant, job.user)
        refs = [access.vault.ref for access in accessible]
        if job.reach is not None:
            refs = [ref for ref in refs if ref.id in job.reach]
        wanted = [ref for ref in refs if ref.id >= job.at and job.vault in {None, ref.id}]
        return sorted(wanted, key=lambda ref: ref.id)
