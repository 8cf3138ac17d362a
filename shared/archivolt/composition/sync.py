"""Synchronisations that users ask for: who asks, and who does the work."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.domain.identity import TenantId, UserId
    from archivolt.ingestion.sync import SyncWorker
    from archivolt.ingestion.sync_requests import RebuildRequests
    from archivolt.ports.index_runs import IndexRuns
    from archivolt.ports.sync import SyncLeases, SyncQueue, SyncRequests
    from archivolt.vaults.personal import PersonalVaults, Welcome


class SyncContainer:
    """Builds and keeps them."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def requests(self) -> "SyncRequests":
        """Where a synchronisation is asked for."""
        from archivolt.ingestion.sync_requests import LeasedSyncRequests

        return LeasedSyncRequests(self._leases, self.queue)

    @cached_property
    def rebuilds(self) -> "RebuildRequests":
        """Where the index of a vault is asked to be made anew."""
        from archivolt.ingestion.sync_requests import RebuildRequests

        return RebuildRequests(self.runs, self.queue, self._on.clock)

    @cached_property
    def runs(self) -> "IndexRuns":
        """When each vault was compared, and whether it is being rebuilt."""
        from archivolt.adapters.dynamodb.index_runs import DynamoIndexRuns

        return DynamoIndexRuns(self._on.table("catalogue_table"))

    @cached_property
    def personal_vaults(self) -> "PersonalVaults":
        """Every user's own vault."""
        from archivolt.vaults.personal import PersonalVaults

        return PersonalVaults(self._on.vault_directory, self._on.clock)

    def welcome(self, *, at_once: bool) -> "Welcome":
        """Return what happens when a user is first heard of."""
        from archivolt.vaults.personal import Welcome

        return Welcome(self.personal_vaults, lambda: self.queue, at_once=at_once)

    @cached_property
    def worker(self) -> "SyncWorker":
        """What does the work."""
        from archivolt.ingestion.sync import SyncWorker

        return SyncWorker(
            leases=self._leases,
            queue=self.queue,
            directory=self._on.vault_directory,
            reconcile=self._on.index.reconcile,
            personal=self.personal_vaults.make,
        )

    def synchronise(self, tenant: "TenantId", user: "UserId") -> None:
        """Have every vault of a tenant compared with its documents, on behalf of a user.

        Raises:
            UnavailableError: It could not be queued.

        """
        from archivolt.domain.sync import SyncJob, SyncKind

        self.queue.send(SyncJob(tenant=tenant, user=user, kind=SyncKind.TENANT))

    @cached_property
    def _leases(self) -> "SyncLeases":
        from archivolt.adapters.dynamodb.sync_leases import DynamoSyncLeases

        return DynamoSyncLeases(self._on.table("control_table"), self._on.clock)

    @cached_property
    def queue(self) -> "SyncQueue":
        """Where synchronisations wait."""
        from archivolt.adapters.sqs.sync_queue import SqsSyncQueue

        return SqsSyncQueue(self._on.aws.sqs, self._on.settings.required("sync_queue_url"))
