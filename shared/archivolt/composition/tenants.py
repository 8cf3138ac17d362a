"""A container a tenant: what it builds reaches that tenant's data and nothing else (R4).

What holds no data of a tenant (models, extraction, the connection to the vector store, queues) is
the function's own and shared by all of them.
"""

from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING

from archivolt.composition.embedding import EmbeddingModels
from archivolt.composition.index import IndexContainer
from archivolt.domain.limits import MAX_TENANTS_AT_HAND

if TYPE_CHECKING:
    from archivolt.adapters.aws.clients import AwsClients
    from archivolt.adapters.aws.tenant_policy import DataPlaces
    from archivolt.adapters.qdrant.rest import QdrantRest
    from archivolt.bootstrap import Container
    from archivolt.domain.identity import TenantId
    from archivolt.ingestion.documents import DocumentReader
    from archivolt.ports.ingestion import EmbeddingQueue
    from archivolt.ports.patterns import PatternCompiler
    from archivolt.ports.retrieval import Embedder


class Tenants:
    """Builds the containers of tenants, and keeps those used last.

    Without a role to take on (TENANT_ROLE_ARN) they have the function's own credentials.
    """

    def __init__(self, container: "Container") -> None:
        self._on = container
        self._kept: OrderedDict[TenantId, Container] = OrderedDict()

    def of(self, tenant: "TenantId") -> "Container":
        """Return the container of a tenant."""
        found = self._kept.get(tenant)
        if found is None:
            found = self._kept[tenant] = self._made(tenant)
        self._kept.move_to_end(tenant)
        if len(self._kept) > MAX_TENANTS_AT_HAND:
            _, oldest = self._kept.popitem(last=False)
            self._let_go(oldest)
        return found

    def _made(self, tenant: "TenantId") -> "Container":
        on = self._on
        made = type(on)(on.settings)
        made.clock = on.clock
        made.aws = self._clients_of(tenant)
        made.index = TenantIndex(made, tenant, on.index)
        return made

    def _let_go(self, container: "Container") -> None:
        if container.aws is not self._on.aws:
            container.aws.close()

    def _clients_of(self, tenant: "TenantId") -> "AwsClients":
        role = self._on.settings.tenant_role_arn
        if not role:
            return self._on.aws
        from archivolt.adapters.aws.tenant_policy import tenant_policy
        from archivolt.adapters.aws.tenant_session import TenantAccess, TenantClients

        policy = tenant_policy(tenant, self._places)
        access = TenantAccess(role=role, policy=policy, name=f"tenant-{tenant}")
        return TenantClients(self._on.aws, access)

    @cached_property
    def _places(self) -> "DataPlaces":
        from archivolt.adapters.aws.tenant_policy import DataPlaces

        settings = self._on.settings
        _, aws, _, _, account, _ = settings.tenant_role_arn.split(":", 5)
        tables = f"arn:{aws}:dynamodb:{self._on.aws.region}:{account}:table"
        names = map(settings.required, ("control_table", "catalogue_table", "ledger_table"))
        return DataPlaces(
            bucket=f"arn:{aws}:s3:::{settings.required('documents_bucket')}",
            tables=[f"{tables}/{name}" for name in names],
            key=settings.kms_key_id,
        )


class TenantIndex(IndexContainer):
    """The index of one tenant."""

    def __init__(self, container: "Container", tenant: "TenantId", shared: IndexContainer) -> None:
        super().__init__(container)
        self._tenant = tenant
        self._shared = shared

    @cached_property
    def models(self) -> EmbeddingModels:
        """What makes vectors."""
        models = EmbeddingModels(self._on)
        shared = self._shared.models
        models.present, models.former = shared.present, shared.former
        models.breaker = shared.breaker
        return models

    @property
    def embedder(self) -> "Embedder":
        """The model that makes vectors, asked with the tenant's key."""
        return self.models.present_for(self._tenant)

    @cached_property
    def embedding_queue(self) -> "EmbeddingQueue":
        """Embedding jobs."""
        return self._shared.embedding_queue

    @cached_property
    def patterns(self) -> "PatternCompiler":
        """Literals and regular expressions that are searched for."""
        return self._shared.patterns

    @cached_property
    def reader(self) -> "DocumentReader":
        """From bytes to passages."""
        return self._shared.reader

    @cached_property
    def vector_server(self) -> "QdrantRest":
        """The connection to the vector store."""
        return self._shared.vector_server
