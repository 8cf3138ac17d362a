"""Synchronisations that users ask for: who asks, and who does the work."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.ingestion.sync import SyncWorker
    from archivolt.ports.sync import SyncLeases, SyncQueue, SyncRequests


class SyncContainer:
    """Builds and keeps them."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def requests(self) -> "SyncRequests":
        """Where a synchronisation is asked for."""
        from archivolt.ingestion.sync import LeasedSyncRequests

        return LeasedSyncRequests(self._leases, self._queue)

    @cached_property
    def worker(self) -> "SyncWorker":
        """What does the work."""
        from archivolt.ingestion.sync import SyncWorker

        return SyncWorker(
            leases=self._leases,
            queue=self._queue,
            directory=self._on.vault_directory,
            reconcile=self._on.index.reconcile,
        )

    @cached_property
    def _leases(self) -> "SyncLeases":
        from archivolt.adapters.dynamodb.sync_leases import DynamoSyncLeases
        from archivolt.adapters.dynamodb.table import DynamoTable

        table = DynamoTable(self._on.aws.dynamodb, self._on.settings.required("control_table"))
        return DynamoSyncLeases(table, self._on.clock)

    @cached_property
    def _queue(self) -> "SyncQueue":
        from archivolt.adapters.sqs.sync_queue import SqsSyncQueue

        return SqsSyncQueue(self._on.aws.sqs, self._on.settings.required("sync_queue_url"))
