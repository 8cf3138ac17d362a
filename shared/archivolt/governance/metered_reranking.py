"""A reranker's calls are metered for the tenant that asks, and end with its suspension."""

from collections.abc import Sequence

from archivolt.domain.errors import ForbiddenError, UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.governance.metered_embeddings import EmbeddingAccounts
from archivolt.ports.retrieval import Reranker


class MeteredReranker:
    """A `Reranker` around another whose calls are paid for.

    Args:
        reranker: The other one.
        accounts: Pay for it; a provider tells no tokens, so that they are estimated.
        tenant: Who asks.

    """

    def __init__(self, reranker: Reranker, accounts: EmbeddingAccounts, tenant: TenantId) -> None:
        self._reranker = reranker
        self._accounts = accounts
        self._tenant = tenant

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float | None]:
        """Return how well each text answers, None for what the model leaves out.

        Raises:
            UnavailableError: The model does not answer; `embedding_budget_spent`,
                `tenant_suspended`, `tenant_deleting`.

        """
        # The model reads the question anew with each text.
        read = [f"{question}\n{text}" for text in texts]
        try:
            return self._accounts.paid(
                self._tenant,
                read,
                lambda: self._reranker.rerank(question, texts),
                used=lambda _: 0,
            )
        except ForbiddenError as error:
            raise UnavailableError(error.code) from error
