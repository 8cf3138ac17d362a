"""Which model answers: request > tenant > `ai_default_*` > environment > deepseek (O72, S5).

Where none of them can be reached, the embedded provider answers. A key is only ever used with the
address it was configured with: a request can choose among what is configured, it cannot send a key
elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from archivolt.chat.configured import (
    ConfiguredProvider,
    Environment,
    keyed_providers,
    own_name,
    own_provider,
)
from archivolt.domain.errors import ForbiddenError, InvalidRequestError
from archivolt.domain.identity import Principal, TenantId
from archivolt.domain.limits import DEFAULT_CONTEXT_TOKENS
from archivolt.domain.providers import (
    EMBEDDED,
    EMBEDDED_MODEL,
    LAST_DEFAULT,
    PRESETS,
)
from archivolt.domain.settings import TenantSettings
from archivolt.domain.usage import FREE, Account, ModelPrice
from archivolt.governance.metered_models import MeteredModel, MeteredModels
from archivolt.ports.governance import SecretBox, TenantSettingsStore
from archivolt.ports.model_catalogue import ModelCatalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """What will answer a turn.

    `sees`: it takes images. `context_tokens` is its window. `reaches_out`: the tenant lets it ask
    the web unasked, whatever documents it has seen; `has_skills`: and has it given methods.
    Whoever asks `model` has its calls metered, at `price`.
    """

    provider: str
    name: str
    max_tokens: int
    model: MeteredModel
    price: ModelPrice = FREE
    sees: bool = False
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    reaches_out: bool = False
    has_skills: bool = True

    def within(self, conversation: str) -> "ChosenModel":
        """Return the same, whose calls are told of as a conversation's, or a run's."""
        return replace(self, model=self.model.within(conversation))


class ModelSelector:
    """Chooses the model of each turn from the settings as they are at that moment (S13, O71).

    Args:
        settings: The tenants' settings.
        secrets: Opens their keys.
        models: Opens models.
        catalogue: Knows which of them see, and what they cost.
        environment: What the deployment says.

    """

    def __init__(
        self,
        settings: TenantSettingsStore,
        secrets: SecretBox,
        models: MeteredModels,
        catalogue: ModelCatalogue,
        *,
        environment: Environment | None = None,
    ) -> None:
        self._settings = settings
        self._secrets = secrets
        self._models = models
        self._catalogue = catalogue
        self._environment = environment or Environment()
        self.preferred = self._environment.preferred or LAST_DEFAULT

    def select(self, principal: Principal, *, provider: str = "", model: str = "") -> ChosenModel:
        """Return the model for one turn; "" leaves a choice to the settings.

        Raises:
            ForbiddenError: `chat_disabled`, `provider_not_allowed`.
            InvalidRequestError: `provider_unknown`, `provider_not_configured`, `model_required`,
                `model_price_unknown`: never free (decision 23).
            UnavailableError: `secret_unreadable`.

        """
        settings = self._settings.load(principal.tenant)
        if not settings.chat_enabled:
            raise ForbiddenError("chat_disabled")
        chosen = self._chosen(principal.tenant, settings, provider)
        if chosen is None:
            return self._embedded(settings)
        return self._connected(principal, chosen, model, settings)

    def configured(self, principal: Principal) -> list[ConfiguredProvider]:
        """Return what the caller's tenant may use and its models; no key is opened."""
        settings = self._settings.load(principal.tenant)
        found = self._configured(principal.tenant, settings).values()
        allowed = [each for each in found if _is_allowed(_name(each), settings)]
        return [replace(each, model=self._model(each, settings)) for each in allowed]

    def allows(self, principal: Principal, provider: str) -> bool:
        """Tell whether the caller's tenant lets its people use a provider (S5)."""
        return _is_allowed(provider, self._settings.load(principal.tenant))

    def default(self, principal: Principal) -> tuple[str, str]:
        """Return the provider and the model that answer unless a request names others.

        Raises:
            ForbiddenError: `chat_disabled`, `provider_not_allowed`.
            InvalidRequestError: `provider_unknown`, `model_price_unknown`.

        """
        settings = self._settings.load(principal.tenant)
        if not settings.chat_enabled:
            raise ForbiddenError("chat_disabled")
        found = self._chosen(principal.tenant, settings, "")
        if found is None:
            return EMBEDDED, EMBEDDED_MODEL
        provider, model = _name(found), self._model(found, settings)
        if model:
            self._price(provider, model, settings)
        return provider, model

    def _model(self, found: ConfiguredProvider, settings: TenantSettings) -> str:
        """Return the model of a provider unless a request names one (O72)."""
        provider = _name(found)
        preferred = settings.chat_model if provider == own_name(settings) else ""
        preferred = preferred or settings.ai_default_models.get(provider, "")
        return preferred or self._environment.models.get(provider, "") or found.model

    def _price(self, provider: str, model: str, settings: TenantSettings) -> ModelPrice:
        return settings.price_of(model) or self._catalogue.price(provider, model)

    def _chosen(
        self, tenant: TenantId, settings: TenantSettings, asked: str
    ) -> ConfiguredProvider | None:
        """Return the provider that answers, None for the embedded one."""
        configured = self._configured(tenant, settings)
        if named := asked or settings.chat_provider:
            found = _named(named, configured, settings, insists=bool(asked))
            if found or named == EMBEDDED:
                return found
        said = (own_name(settings), settings.ai_default_provider, self.preferred, LAST_DEFAULT)
        for name in (*said, *configured):
            if name == EMBEDDED:
                return None
            if name in configured and _is_allowed(name, settings):
                return configured[name]
        return None

    def _embedded(self, settings: TenantSettings) -> ChosenModel:
        return ChosenModel(
            provider=EMBEDDED,
            name=EMBEDDED_MODEL,
            max_tokens=settings.chat_max_tokens_per_request,
            context_tokens=self._catalogue.context_tokens(EMBEDDED, EMBEDDED_MODEL),
            reaches_out=settings.web_after_documents,
            has_skills=settings.skills_enabled,
            model=self._models.embedded(),
        )

    def _connected(
        self, principal: Principal, found: ConfiguredProvider, model: str, settings: TenantSettings
    ) -> ChosenModel:
        provider, tenant = _name(found), principal.tenant
        name = model or self._model(found, settings)
        if not name:
            raise InvalidRequestError("model_required", provider=provider)
        price = self._price(provider, name, settings)
        account = Account(
            tenant=tenant,
            user=principal.user,
            provider=provider,
            model=name,
            price=price,
            budgets=settings.budgets,
        )
        connection = found.connection
        if found.sealed_key:
            key = self._secrets.open(found.sealed_key, tenant=tenant, field=found.key_field)
            connection = replace(connection, key=key)
        return ChosenModel(
            provider=provider,
            name=name,
            max_tokens=settings.chat_max_tokens_per_request,
            sees=self._catalogue.capabilities(provider, name).vision,
            context_tokens=self._catalogue.context_tokens(provider, name),
            reaches_out=settings.web_after_documents,
            has_skills=settings.skills_enabled,
            model=self._models.connect(connection, account),
            price=price,
        )

    def _configured(
        self, tenant: TenantId, settings: TenantSettings
    ) -> dict[str, ConfiguredProvider]:
        """Return what may be used, by name: the tenant's own first."""
        configured: dict[str, ConfiguredProvider] = {}
        own = own_provider(settings)
        if own is not None:
            configured[_name(own)] = own
        for each in keyed_providers(settings):
            configured.setdefault(_name(each), each)
        if self._environment.tenant in {None, tenant}:
            for each in self._environment.providers:
                configured.setdefault(_name(each), each)
        return configured


def _named(
    name: str,
    configured: Mapping[str, ConfiguredProvider],
    settings: TenantSettings,
    *,
    insists: bool,
) -> ConfiguredProvider | None:
    """Return the provider of a name; a well-known one that only lacks its key may be None."""
    if name == EMBEDDED:
        return None
    if not _is_allowed(name, settings):
        raise ForbiddenError("provider_not_allowed", provider=name)
    if name not in configured and (insists or name not in PRESETS):
        raise _unusable(name)
    return configured.get(name)


def _name(found: ConfiguredProvider) -> str:
    return found.connection.provider


def _is_allowed(provider: str, settings: TenantSettings) -> bool:
    """Tell whether the tenant lets its people use a provider (S5); none named: every one."""
    allowed = settings.chat_allowed_providers
    return not allowed or provider in allowed or provider == EMBEDDED


def _unusable(provider: str) -> InvalidRequestError:
    if provider in PRESETS:
        return InvalidRequestError("provider_not_configured", provider=provider)
    known = ", ".join([EMBEDDED, *PRESETS])
    return InvalidRequestError("provider_unknown", provider=provider, known=known)
