"""The settings a tenant's administrator may change (S12)."""

from dataclasses import dataclass
from typing import Final

from archivolt.domain.limits import CHAT_MAX_TOKENS

CHAT_API_KEY: Final = "chat_api_key"
"""The field that the provider's key is sealed to."""

EMBEDDING_API_KEY: Final = "embedding_api_key"
"""The field that the key of the provider of vectors is sealed to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSettings:
    """What applies to the next request of a tenant. Empty means "not set".

    `sealed_chat_api_key` is ciphertext bound to the tenant and the field (decision 24);
    `chat_api_key_fingerprint` is all that is ever shown of the key. So it is with the key of the
    provider of vectors, which goes to `embedding_api_key_origin` and nowhere else. With
    `human_confirmation` an agent's change takes a person's yes; with
    `human_confirmation_in_product`, one in the product.
    """

    chat_enabled: bool = True
    chat_provider: str = ""
    chat_model: str = ""
    chat_base_url: str = ""
    chat_max_tokens_per_request: int = CHAT_MAX_TOKENS
    sealed_chat_api_key: str = ""
    chat_api_key_fingerprint: str = ""
    human_confirmation: bool = False
    human_confirmation_in_product: bool = False
    sealed_embedding_api_key: str = ""
    embedding_api_key_fingerprint: str = ""
    embedding_api_key_origin: str = ""
    embedding_account: str = ""
