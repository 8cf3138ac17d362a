"""The search, put together of the index, its models and what narrows a question."""

from typing import TYPE_CHECKING

from archivolt.composition.metering import metered_rerankers
from archivolt.retrieval.filters import DocumentFilters
from archivolt.retrieval.hybrid import RetrievalService, SearchModels

if TYPE_CHECKING:
    from archivolt.bootstrap import Container


def retrieval_service(container: "Container") -> RetrievalService:
    """Return the search by meaning and by words."""
    index = container.index
    return RetrievalService(
        directory=container.vault_directory,
        catalogue=container.catalogue,
        text_index=index.text_index,
        vectors=index.vector_store,
        clock=container.clock,
        filters=DocumentFilters(index.note_index, container.clock),
        models=SearchModels(
            breaker=index.models.breaker,
            embedder=index.models.present_for,
            former=index.former_index_for,
            reranker=metered_rerankers(container),
        ),
    )
