"""The settings a tenant's administrator may change (S12)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from archivolt.domain.limits import CHAT_MAX_TOKENS
from archivolt.domain.retention import DEFAULT_RETENTION_DAYS
from archivolt.domain.usage import Budgets, ModelPrice, dollars_to_micros

CHAT_API_KEY: Final = "chat_api_key"
"""The field that the provider's key is sealed to."""

EMBEDDING_API_KEY: Final = "embedding_api_key"
"""The field that the key of the provider of vectors is sealed to."""


PROVIDER_KEYS: Final = "chat_provider_keys"
"""The keys of further providers, each sealed to a field of its own."""


def provider_key_field(provider: str) -> str:
    """Return the field that the key of a further provider is sealed to."""
    return f"chat_provider_key:{provider}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSettings:
    """What applies to the next request of a tenant. Empty means "not set".

    `sealed_provider_keys` are keys of further providers, each for its well-known address.
    `chat_allowed_providers` are those that its people may choose from, none named: all;
    `ai_default_models` is a model for each provider (O71).
    `sealed_chat_api_key` is ciphertext bound to the tenant and the field (decision 24);
    `chat_api_key_fingerprint` is all that is ever shown of the key. So it is with the key of the
    provider of vectors, which goes to `embedding_api_key_origin` and nowhere else. With
    `human_confirmation` an agent's change takes a person's yes; with
    `human_confirmation_in_product`, one in the product. With `web_after_documents` the chat's
    model may ask the web without asking the person, whatever documents it has seen. With
    `skills_enabled` a message gets the method that fits it (L21). A conversation is kept for
    `chat_retention_days` after its last use, 0: without end (S19). `chat_monthly_budget_usd` is
    the tenant's for a month, "" for none, `chat_daily_tokens_per_user` each user's for a day;
    `chat_model_prices` are the tenant's own (decision 23).
    """

    chat_enabled: bool = True
    chat_provider: str = ""
    chat_model: str = ""
    chat_base_url: str = ""
    chat_max_tokens_per_request: int = CHAT_MAX_TOKENS
    chat_allowed_providers: tuple[str, ...] = ()
    ai_default_provider: str = ""
    ai_default_models: Mapping[str, str] = field(default_factory=dict[str, str])
    sealed_chat_api_key: str = ""
    chat_api_key_fingerprint: str = ""
    sealed_provider_keys: Mapping[str, str] = field(default_factory=dict[str, str])
    provider_key_fingerprints: Mapping[str, str] = field(default_factory=dict[str, str])
    human_confirmation: bool = False
    human_confirmation_in_product: bool = False
    sealed_embedding_api_key: str = ""
    embedding_api_key_fingerprint: str = ""
    embedding_api_key_origin: str = ""
    embedding_account: str = ""
    web_after_documents: bool = False
    skills_enabled: bool = True
    chat_retention_days: int = DEFAULT_RETENTION_DAYS
    revision: int = field(default=0, compare=False)
    chat_monthly_budget_usd: str = ""
    chat_daily_tokens_per_user: int | None = None
    chat_model_prices: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]]
    )

    @property
    def budgets(self) -> Budgets:
        """What may be used."""
        budget = self.chat_monthly_budget_usd
        return Budgets(
            monthly_micros=dollars_to_micros(Decimal(budget)) if budget else None,
            daily_tokens=self.chat_daily_tokens_per_user,
        )

    def price_of(self, model: str) -> ModelPrice | None:
        """Return the tenant's own price of a model, None where they gave none."""
        price = self.chat_model_prices.get(model)
        if price is None:
            return None
        return ModelPrice(input=Decimal(price["input"]), output=Decimal(price["output"]))
