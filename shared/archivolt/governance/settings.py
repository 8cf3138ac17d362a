"""What an administrator may change for their tenant, in force from the next request on (S12, S13).

A key of a provider comes in and never goes out: it is kept sealed, and shown as a fingerprint.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr

from archivolt.domain import limits
from archivolt.domain.errors import ConflictError, InvalidRequestError, UnavailableError
from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.settings import (
    CHAT_API_KEY,
    EMBEDDING_API_KEY,
    PROVIDER_KEYS,
    TenantSettings,
)
from archivolt.governance.budget_settings import PAYS_FOR_VECTORS, BudgetsChange, ModelName
from archivolt.governance.provider_keys import fingerprint, is_fingerprint, with_provider_keys
from archivolt.governance.tenants import reached_known
from archivolt.observability import failure, logger
from archivolt.ports.governance import SecretBox, TenantSettingsStore
from archivolt.ports.tenancy import TenantDirectory

_ATTEMPTS: Final = 5
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]*")


def _http_address(address: str) -> str:
    """Hold an address to what a provider's can be: no credentials, no query, no fragment."""
    parts = urlsplit(address)
    plain = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    if not (plain and _PRINTABLE.fullmatch(address) and "\\" not in address):
        raise ValueError("not an http(s) address")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("more than an address")
    return address.rstrip("/")


def _address_or_none(address: str) -> str:
    return _http_address(address) if address else ""


def _header_value(key: SecretStr) -> SecretStr:
    if not _PRINTABLE.fullmatch(key.get_secret_value()):
        raise ValueError("a key has no spaces")
    return key


_PROVIDER: Final = r"^[a-z0-9_-]*$"
ProviderName = Annotated[
    str, Field(pattern=_PROVIDER, min_length=1, max_length=limits.MAX_PROVIDER_NAME_CHARS)
]
ProviderKey = Annotated[
    SecretStr, AfterValidator(_header_value), Field(max_length=limits.MAX_API_KEY_CHARS)
]


class SettingsChange(BudgetsChange):
    """The settings to change; what is absent stays, and null or "" means "not set" again."""

    model_config = ConfigDict(extra="forbid")

    chat_enabled: bool | None = Field(default=None, description="Whether the chat answers.")
    chat_provider: str | None = Field(
        default=None,
        pattern=_PROVIDER,
        max_length=limits.MAX_PROVIDER_NAME_CHARS,
        description="Whose model answers.",
    )
    chat_model: str | None = Field(default=None, max_length=limits.MAX_MODEL_NAME_CHARS)
    chat_allowed_providers: tuple[ProviderName, ...] | None = Field(
        default=None,
        max_length=limits.MAX_NAMED_PROVIDERS,
        description="Those that the tenant's people may choose from; none named: all.",
    )
    ai_default_provider: str | None = Field(
        default=None,
        pattern=_PROVIDER,
        max_length=limits.MAX_PROVIDER_NAME_CHARS,
        description="Whose model answers where neither a request nor chat_provider says.",
    )
    ai_default_models: dict[ProviderName, ModelName] | None = Field(
        default=None,
        max_length=limits.MAX_NAMED_PROVIDERS,
        description="The model of each provider, where a request names none.",
    )
    chat_base_url: Annotated[str, AfterValidator(_address_or_none)] | None = Field(
        default=None,
        max_length=limits.MAX_URL_CHARS,
        description="The address of the provider's endpoint, for any name but anthropic and gemini"
        " an OpenAI-compatible one. With another host, port or"
        " provider the key is forgotten, unless the same change gives one.",
    )
    chat_max_tokens_per_request: int | None = Field(
        default=None, ge=1, le=limits.MAX_CHAT_TOKENS_PER_REQUEST
    )
    chat_api_key: Annotated[SecretStr, AfterValidator(_header_value)] | None = Field(
        default=None,
        max_length=limits.MAX_API_KEY_CHARS,
        description="Write-only: shown as a"
        " fingerprint, which changes nothing when it is sent back.",
    )
    chat_provider_keys: dict[ProviderName, ProviderKey | None] | None = Field(
        default=None,
        max_length=limits.MAX_NAMED_PROVIDERS,
        description="Keys of further well-known providers, that a request may name; each goes to"
        " its provider's own address and nowhere else. Those not named stay; null takes one back,"
        " and null for all takes back all. Write-only, as chat_api_key.",
    )
    embedding_api_key: Annotated[SecretStr, AfterValidator(_header_value)] | None = Field(
        default=None,
        max_length=limits.MAX_API_KEY_CHARS,
        description="Pays for the vectors of the tenant at the provider that the deployment names,"
        " and is sent nowhere else. Write-only, as chat_api_key.",
    )
    embedding_account: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]*$",
        max_length=limits.MAX_ACCOUNT_CHARS,
        description="The account that embedding_api_key is of, where the provider has accounts;"
        ' "" is the deployment\'s.',
    )
    human_confirmation: bool | None = Field(
        default=None,
        description="Whether an agent's change takes a person's yes: in a form of their client, or"
        " at the address that comes with the proposal.",
    )
    human_confirmation_in_product: bool | None = Field(
        default=None,
        description="Whether only a yes in the product counts: a client could answer its own form.",
    )
    web_after_documents: bool | None = Field(
        default=None,
        description="Whether the chat's model may search and read the web unasked even after it has"
        " seen documents. What a document says could then leave in an address.",
    )
    skills_enabled: bool | None = Field(
        default=None,
        description="Whether the chat gives the model the method that fits a message by itself.",
    )
    chat_retention_days: Literal[0, 30, 60, 90, 180] | None = Field(
        default=None,
        description="How long a conversation is kept after its last use; 0: without end. One that"
        " is over age is gone at once, for good with the next night.",
    )


class SettingsService:
    """Shows and changes a tenant's settings.

    Args:
        store: Keeps them.
        secrets: Seals the keys.
        tenants: Knows which there are.
        embedding_origin: Where the deployment has vectors made; "" for no provider.
        catch_up: Has the documents of a tenant that waited for a key or a budget queued again, on
            behalf of a user.

    """

    def __init__(
        self,
        store: TenantSettingsStore,
        secrets: SecretBox,
        tenants: TenantDirectory,
        *,
        embedding_origin: str = "",
        catch_up: Callable[[TenantId, UserId], None] = lambda tenant, user: None,  # noqa: ARG005  none
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._tenants = tenants
        self._embedding_origin = embedding_origin
        self._catch_up = catch_up

    def show(self, principal: Principal, tenant: str) -> TenantSettings:
        """Return the settings of a tenant.

        Raises:
            NotFoundError: `tenant_not_found`: none, or another's, and the caller is no cpi-admin.

        """
        return self._store.load(reached_known(principal, tenant, self._tenants, changes=False))

    def own(self, principal: Principal) -> TenantSettings:
        """Return the settings of the caller's own tenant, for what everybody in it may see."""
        return self._store.load(principal.tenant)

    def change(self, principal: Principal, tenant: str, change: SettingsChange) -> TenantSettings:
        """Change what `change` names and return the settings as they are then.

        Raises:
            NotFoundError: `tenant_not_found`.
            InvalidRequestError: `embedding_key_unused`, `provider_unknown`.
            ConflictError: `tenant_going`; `conflict`: others change them all the time.

        """
        administered = reached_known(principal, tenant, self._tenants, changes=True)
        changed, gives_key = self._saved(administered, change)
        if gives_key or (self._embedding_origin and change.model_fields_set & PAYS_FOR_VECTORS):
            self._let_documents_follow(administered, principal.user)
        return changed

    def _saved(
        self, tenant: TenantId, change: SettingsChange, attempts: int = _ATTEMPTS
    ) -> tuple[TenantSettings, bool]:
        """Keep what a change makes of the settings as they are then, whoever else changes them."""
        current = self._store.load(tenant)
        changed, gives_key = self._changed(current, tenant, change)
        try:
            self._store.save(tenant, changed, over=current)
        except ConflictError:
            # Laid over each other unseen, a key could meet an address that it was not given for.
            if attempts == 1:
                raise
            return self._saved(tenant, change, attempts - 1)
        return changed, gives_key

    def _changed(
        self, current: TenantSettings, tenant: TenantId, change: SettingsChange
    ) -> tuple[TenantSettings, bool]:
        """Return the settings as a change leaves them, and whether it gives a key for vectors."""
        changed = replace(current, **_plain_values(change))
        key = _new_key(change, CHAT_API_KEY, change.chat_api_key)
        if key is not None:
            changed = self._with_key(changed, tenant, key)
        elif _lead_elsewhere(current, changed):
            # Else whoever may change the address could have the key sent to a host of theirs.
            changed = self._with_key(changed, tenant, "")
        key = _new_key(change, EMBEDDING_API_KEY, change.embedding_api_key)
        if key is not None:
            changed = self._with_embedding_key(changed, tenant, key)
        if PROVIDER_KEYS in change.model_fields_set:
            changed = with_provider_keys(
                changed, change.chat_provider_keys, tenant=tenant, secrets=self._secrets
            )
        return changed, bool(key)

    def _let_documents_follow(self, tenant: TenantId, user: UserId) -> None:
        try:
            self._catch_up(tenant, user)
        except UnavailableError as error:
            # The change is in force; the daily reconciliation finds what waits.
            logger.warning("documents wait for the reconciliation", extra=failure(error))

    def _with_key(self, settings: TenantSettings, tenant: TenantId, key: str) -> TenantSettings:
        sealed = self._secrets.seal(key, tenant=tenant, field=CHAT_API_KEY) if key else ""
        return replace(
            settings, sealed_chat_api_key=sealed, chat_api_key_fingerprint=fingerprint(key)
        )

    def _with_embedding_key(
        self, settings: TenantSettings, tenant: TenantId, key: str
    ) -> TenantSettings:
        if key and not self._embedding_origin:
            raise InvalidRequestError("embedding_key_unused")
        return replace(
            settings,
            sealed_embedding_api_key=(
                self._secrets.seal(key, tenant=tenant, field=EMBEDDING_API_KEY) if key else ""
            ),
            embedding_api_key_fingerprint=fingerprint(key),
            embedding_api_key_origin=self._embedding_origin if key else "",
        )


def _plain_values(change: SettingsChange) -> dict[str, Any]:
    """Return the named settings but the keys; those set to nothing have their defaults."""
    defaults = TenantSettings()
    named = change.model_fields_set - {CHAT_API_KEY, EMBEDDING_API_KEY, PROVIDER_KEYS}
    values = {name: getattr(change, name) for name in named}
    return {
        name: getattr(defaults, name) if value is None else value for name, value in values.items()
    }


def _new_key(change: SettingsChange, field: str, given: SecretStr | None) -> str | None:
    """Return the key a change brings, "" for one that takes it away, None for neither."""
    if field not in change.model_fields_set:
        return None
    key = given.get_secret_value() if given else ""
    return None if is_fingerprint(key) else key


def _lead_elsewhere(before: TenantSettings, after: TenantSettings) -> bool:
    """Tell whether the key would go to another host than the one it was given for."""
    if before.chat_base_url or after.chat_base_url:
        return _origin(before.chat_base_url) != _origin(after.chat_base_url)
    return before.chat_provider not in {"", after.chat_provider}


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port
