"""Which model answers: request > tenant's settings > environment > embedded (O72, S5).

A key is only ever used with the address it was configured with: a request can choose among what is
configured, it cannot send a key elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from archivolt.domain.errors import ForbiddenError, InvalidRequestError
from archivolt.domain.identity import Principal, TenantId
from archivolt.domain.settings import CHAT_API_KEY, TenantSettings
from archivolt.ports.chat_model import ChatModel, ChatModels, ProviderConnection
from archivolt.ports.governance import SecretBox, TenantSettingsStore

EMBEDDED: Final = "embedded"
EMBEDDED_MODEL: Final = "archivolt-extractive"


class Preset(NamedTuple):
    """Where a well-known provider is, and the model it answers with unless one is named."""

    base_url: str
    model: str


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "deepseek": Preset("https://api.deepseek.com/v1", "deepseek-chat"),
        "mistral": Preset("https://api.mistral.ai/v1", "mistral-small-latest"),
        "openai": Preset("https://api.openai.com/v1", "gpt-4o"),
        "openrouter": Preset("https://openrouter.ai/api/v1", "openrouter/auto"),
    }
)

# They speak another wire format, so an address does not make them OpenAI-compatible.
_OTHER_FORMATS: Final = frozenset({"anthropic", "gemini"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredProvider:
    """A provider that can be reached, and the model it answers with unless another is named."""

    connection: ProviderConnection
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """What will answer a turn."""

    provider: str
    name: str
    max_tokens: int
    model: ChatModel


def environment_providers(
    variables: Mapping[str, str], *, preferred: str = "", preferred_model: str = ""
) -> list[ConfiguredProvider]:
    """Return the providers that a deployment has keys for, the preferred one first.

    Args:
        variables: `{provider}_api_key`, `{provider}_model`, `{provider}_base_url`, where set.
        preferred: `AI_DEFAULT_PROVIDER`.
        preferred_model: `AI_DEFAULT_MODEL`, the preferred provider's.

    """
    found: list[ConfiguredProvider] = []
    for name, preset in PRESETS.items():
        key, base_url = variables.get(f"{name}_api_key"), variables.get(f"{name}_base_url")
        if not (key or base_url):
            continue
        named = preferred_model if name == preferred else ""
        found.append(
            ConfiguredProvider(
                connection=ProviderConnection(
                    provider=name, base_url=base_url or preset.base_url, key=key or ""
                ),
                model=named or variables.get(f"{name}_model") or preset.model,
            )
        )
    return sorted(found, key=lambda each: each.connection.provider != preferred)


class ModelSelector:
    """Chooses the model of each turn from the settings as they are at that moment (S13).

    Args:
        settings: The tenants' settings.
        secrets: Opens their keys.
        models: Opens models.
        environment: The deployment's own providers, the preferred one first.
        environment_tenant: The one tenant they serve (S10); None: every tenant of a local stack.

    """

    def __init__(
        self,
        settings: TenantSettingsStore,
        secrets: SecretBox,
        models: ChatModels,
        *,
        environment: Sequence[ConfiguredProvider] = (),
        environment_tenant: str | None = "",
    ) -> None:
        self._settings = settings
        self._secrets = secrets
        self._models = models
        self._environment = environment
        self._environment_tenant = environment_tenant

    def select(self, principal: Principal, *, provider: str = "", model: str = "") -> ChosenModel:
        """Return the model for one turn; "" leaves a choice to the settings.

        Raises:
            ForbiddenError: `chat_disabled`.
            InvalidRequestError: `provider_unknown`, `provider_not_configured`, `model_required`.
            UnavailableError: `secret_unreadable`.

        """
        settings = self._settings.load(principal.tenant)
        if not settings.chat_enabled:
            raise ForbiddenError("chat_disabled")
        chosen = provider or settings.chat_provider
        if chosen == EMBEDDED:
            return self._embedded(settings)
        configured = self._configured(principal.tenant, settings)
        chosen = chosen or next(iter(configured), EMBEDDED)
        if chosen in configured:
            return self._connected(configured[chosen], model, settings)
        if provider or chosen not in {EMBEDDED, *PRESETS}:
            raise _unusable(chosen)
        return self._embedded(settings)

    def _embedded(self, settings: TenantSettings) -> ChosenModel:
        return ChosenModel(
            provider=EMBEDDED,
            name=EMBEDDED_MODEL,
            max_tokens=settings.chat_max_tokens_per_request,
            model=self._models.embedded(),
        )

    def _connected(
        self, found: ConfiguredProvider, model: str, settings: TenantSettings
    ) -> ChosenModel:
        provider = found.connection.provider
        preferred = settings.chat_model if provider == settings.chat_provider else ""
        name = model or preferred or found.model
        if not name:
            raise InvalidRequestError("model_required", provider=provider)
        return ChosenModel(
            provider=provider,
            name=name,
            max_tokens=settings.chat_max_tokens_per_request,
            model=self._models.connect(found.connection),
        )

    def _configured(
        self, tenant: TenantId, settings: TenantSettings
    ) -> dict[str, ConfiguredProvider]:
        """Return what may be used, by name: the tenant's own first."""
        configured: dict[str, ConfiguredProvider] = {}
        own = self._own(tenant, settings)
        if own is not None:
            configured[own.connection.provider] = own
        if self._environment_tenant in {None, tenant}:
            for each in self._environment:
                configured.setdefault(each.connection.provider, each)
        return configured

    def _own(self, tenant: TenantId, settings: TenantSettings) -> ConfiguredProvider | None:
        """Return what the tenant configured, if it can be reached: a key, or an address of one."""
        if not (settings.sealed_chat_api_key or settings.chat_base_url):
            return None
        provider = settings.chat_provider or "openai"
        preset = PRESETS.get(provider, Preset("", ""))
        base_url = settings.chat_base_url or preset.base_url
        if not base_url or provider in {EMBEDDED, *_OTHER_FORMATS}:
            return None
        sealed = settings.sealed_chat_api_key
        key = self._secrets.open(sealed, tenant=tenant, field=CHAT_API_KEY) if sealed else ""
        connection = ProviderConnection(provider=provider, base_url=base_url, key=key)
        return ConfiguredProvider(connection=connection, model=settings.chat_model or preset.model)


def _unusable(provider: str) -> InvalidRequestError:
    if provider in PRESETS:
        return InvalidRequestError("provider_not_configured", provider=provider)
    known = ", ".join([EMBEDDED, *PRESETS])
    return InvalidRequestError("provider_unknown", provider=provider, known=known)
