"""What meters calls to providers."""

from typing import TYPE_CHECKING

from archivolt.governance.metering import Meter

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from archivolt.adapters.embedding.models import EmbeddingModel
    from archivolt.bootstrap import Container
    from archivolt.domain.identity import TenantId
    from archivolt.domain.usage import ModelPrice
    from archivolt.governance.metered_embeddings import EmbeddingAccounts
    from archivolt.governance.usage import UsageReports
    from archivolt.ports.retrieval import Reranker
    from archivolt.settings import EmbeddingChoice


def meter_of(container: "Container") -> Meter:
    """Return what meters the calls of a container; nothing is built before the first."""
    return Meter(
        lambda: container.ledger,
        lambda: container.usage_events,
        container.clock,
        container.admission.require_account,
    )


def embedding_accounts(
    container: "Container", choice: "EmbeddingChoice", model: "EmbeddingModel"
) -> "EmbeddingAccounts":
    """Return what pays for the vectors of tenants."""
    from archivolt.governance.metered_embeddings import EmbeddingAccounts

    return EmbeddingAccounts(
        meter_of(container),
        container.tenant_settings,
        lambda: container.chat.catalogue,
        provider=model.provider,
        model=model.name,
        price=_price(choice.price),
    )


def metered_rerankers(container: "Container") -> "Callable[[TenantId], Reranker | None]":
    """Return what orders the passages of a tenant, and is paid for; None where nothing does."""
    from archivolt.composition.reranking import reranker_for

    choice, found = container.settings.reranker, reranker_for(container.settings)
    if not choice.provider:
        return found
    from archivolt.domain.usage import FREE
    from archivolt.governance.metered_embeddings import EmbeddingAccounts
    from archivolt.governance.metered_reranking import MeteredReranker

    accounts = EmbeddingAccounts(
        meter_of(container),
        container.tenant_settings,
        lambda: container.chat.catalogue,
        provider=choice.provider,
        model=choice.model or choice.provider,
        # Mostly priced by the search, and by no token; a tenant may name a price.
        price=FREE,
    )

    def of(tenant: "TenantId") -> "Reranker | None":
        reranker = found(tenant)
        return reranker and MeteredReranker(reranker, accounts, tenant)

    return of


def _price(dollars: "Decimal | None") -> "ModelPrice | None":
    from archivolt.domain.usage import ModelPrice

    return None if dollars is None else ModelPrice(input=dollars, output=dollars)


def usage_reports(container: "Container") -> "UsageReports":
    """Return what tells people what was used."""
    from archivolt.governance.usage import UsageReports

    return UsageReports(
        lambda: container.ledger,
        container.tenant_settings,
        meter_of(container),
        container.clock,
    )
