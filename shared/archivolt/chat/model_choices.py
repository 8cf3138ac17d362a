"""What people choose a model from: providers, their models, and what these can do (O78)."""

from collections.abc import Mapping
from dataclasses import dataclass

from archivolt.chat.providers import ModelSelector
from archivolt.domain.identity import Principal
from archivolt.domain.providers import EMBEDDED, PRESETS
from archivolt.ports.model_catalogue import ModelCapabilities, ModelCatalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """A provider as a person sees it. `default_model` is "" where one has to be named."""

    provider: str
    configured: bool
    default_model: str
    models: Mapping[str, ModelCapabilities]


class ModelChoices:
    """Lists providers and models; opens no key and asks no provider."""

    def __init__(self, selector: ModelSelector, catalogue: ModelCatalogue) -> None:
        self._selector = selector
        self._catalogue = catalogue

    @property
    def preferred(self) -> str:
        """The provider that is asked first where a tenant says nothing."""
        return self._selector.preferred

    def default(self, principal: Principal) -> tuple[str, str]:
        """Return the provider and the model that answer; see `ModelSelector.default`."""
        return self._selector.default(principal)

    def providers(self, principal: Principal) -> list[ProviderChoice]:
        """Return what the caller's tenant may use: first what can be reached."""
        reached = {
            each.connection.provider: each.model for each in self._selector.configured(principal)
        }
        reached[EMBEDDED] = next(iter(self._catalogue.models(EMBEDDED)))
        others = [name for name in PRESETS if name not in reached]
        others = [name for name in others if self._selector.allows(principal, name)]
        return [
            *(self._choice(name, model, configured=True) for name, model in reached.items()),
            *(self._choice(name, PRESETS[name].model, configured=False) for name in others),
        ]

    def capabilities(self, provider: str, model: str) -> ModelCapabilities:
        """Return what one model can do."""
        return self._catalogue.capabilities(provider, model)

    def _choice(self, provider: str, default_model: str, *, configured: bool) -> ProviderChoice:
        """Return a provider with its known models, and the one that answers unless named."""
        models = dict(self._catalogue.models(provider))
        if default_model and default_model not in models:
            own = {default_model: self._catalogue.capabilities(provider, default_model)}
            models = own | models
        return ProviderChoice(
            provider=provider, configured=configured, default_model=default_model, models=models
        )
