"""What the functions behind queues and schedules stand on: a worker for each tenant's part (R4)."""

from functools import cached_property
from typing import TYPE_CHECKING

from archivolt.composition.tenants import Tenants
from archivolt.ingestion.per_tenant import TenantBatches

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.domain.ingestion import EmbeddingJob
    from archivolt.domain.sync import SyncJob
    from archivolt.ingestion.announced import Announced
    from archivolt.ingestion.every_vault import EveryVault
    from archivolt.ports.operations import Operation
    from archivolt.vaults.sweep import OperationSweep


class WorkersContainer:
    """Builds and keeps them."""

    def __init__(self, container: "Container") -> None:
        self._on = container
        self._tenants = Tenants(container)

    @cached_property
    def indexing(self) -> "TenantBatches[Announced]":
        """Works off what S3 announces."""
        from archivolt.ingestion.announced import by_tenant

        return TenantBatches(
            by_tenant, lambda tenant: self._tenants.of(tenant).index.index_announced
        )

    @cached_property
    def embedding(self) -> "TenantBatches[EmbeddingJob]":
        """Works off embedding jobs."""
        return TenantBatches(
            lambda job: [(job.vault.tenant, job)],
            lambda tenant: self._tenants.of(tenant).index.embed_passages,
        )

    @cached_property
    def sync(self) -> "TenantBatches[SyncJob]":
        """Does the synchronisations that users asked for."""
        return TenantBatches(
            lambda job: [(job.tenant, job)],
            lambda tenant: self._tenants.of(tenant).index.sync.worker,
        )

    @cached_property
    def reconcile(self) -> "EveryVault":
        """Compares every vault with its index."""
        from archivolt.ingestion.every_vault import EveryVault

        return EveryVault(
            self._on.vault_directory,
            lambda tenant: self._tenants.of(tenant).index.reconcile,
            self._on.clock,
        )

    @cached_property
    def sweep(self) -> "OperationSweep":
        """Finishes changes of many files that nobody came back for."""
        from archivolt.vaults.sweep import OperationSweep

        kinds = self._on.tools.documents.resumptions
        resumptions = dict.fromkeys(kinds, self._resume)
        return OperationSweep(self._on.operations, resumptions, self._on.clock)

    def _resume(self, operation: "Operation") -> object:
        documents = self._tenants.of(operation.vault.tenant).tools.documents
        return documents.resumptions[operation.kind](operation)
