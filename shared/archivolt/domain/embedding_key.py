"""What a provider of vectors is paid with, and what may be wrong with it (S10)."""

from dataclasses import dataclass, field
from typing import Final

KEY_TROUBLES: Final = frozenset(
    {
        "embedding_budget_spent",
        "embedding_key_missing",
        "embedding_key_refused",
        "embedding_price_unknown",
        "secret_unreadable",
        "tenant_deleting",
        "tenant_suspended",
    }
)
"""The codes of errors that no repetition mends: somebody has to give another key, or resume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingKey:
    """A key for the address that the deployment names, empty where that wants none.

    `account` takes the place of the deployment's, where the provider has accounts.
    """

    key: str = field(default="", repr=False)
    account: str = ""
