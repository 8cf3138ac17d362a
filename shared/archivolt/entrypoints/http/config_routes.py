"""The defaults of the models that answer, kept for the tenant and in force at once (O71)."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from archivolt.domain.limits import MAX_NAMED_PROVIDERS
from archivolt.domain.settings import TenantSettings
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.model_bodies import Capabilities, ProviderBody, capabilities_of
from archivolt.entrypoints.http.services import RestServices, ServicesOf
from archivolt.governance.settings import ModelName, ProviderName, SettingsChange

_Models = Annotated[dict[ProviderName, ModelName], Field(max_length=MAX_NAMED_PROVIDERS)]


class ConfigBody(BaseModel):
    """The defaults as they are kept."""

    ai_default_provider: str
    ai_default_models: dict[str, str]


class ConfigChange(BaseModel):
    """The defaults to change; what is absent stays, and null or nothing means "not set" again."""

    model_config = ConfigDict(extra="forbid")

    ai_default_provider: ProviderName | None = Field(
        default=None, description="Who answers where neither a request nor the settings say."
    )
    ai_default_models: _Models | None = Field(
        default=None, description="The model of each provider, where a request names none."
    )


class ModelsBody(BaseModel):
    """Providers and models to choose from."""

    ai_default_provider: str
    ai_default_models: dict[str, str]
    providers: list[ProviderBody]
    capabilities: Capabilities = Field(description="By provider, then by model.")


def config_router(services: ServicesOf) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["settings"])

    @router.get("/config", summary="See the defaults of the models", operation_id="config")
    def show_config(principal: InteractivePrincipal) -> ConfigBody:  # pyright: ignore[reportUnusedFunction]
        """Those of your own tenant."""
        return _config(services().tenant_settings.own(principal), services())

    @router.post(
        "/config", summary="Change the defaults of the models", operation_id="change_config"
    )
    def change_config(principal: InteractivePrincipal, change: ConfigChange) -> ConfigBody:  # pyright: ignore[reportUnusedFunction]
        """For administrators; in force from the next message on."""
        names = sorted(change.model_fields_set)
        named = {name: getattr(change, name) for name in names}
        with services().by_hand.administering(principal, "change_config", names=names):
            changed = services().tenant_settings.change(
                principal, principal.tenant, SettingsChange(**named)
            )
        return _config(changed, services())

    @router.get(
        "/config/ai-models",
        summary="See which models can be chosen, and what they can do",
        operation_id="ai_models",
    )
    def ai_models(principal: InteractivePrincipal) -> ModelsBody:  # pyright: ignore[reportUnusedFunction]
        """A provider that is not `configured` has no key yet."""
        kept = _config(services().tenant_settings.own(principal), services())
        choices = services().model_choices().providers(principal)
        return ModelsBody(
            ai_default_provider=kept.ai_default_provider,
            ai_default_models=kept.ai_default_models,
            providers=[ProviderBody.of(choice) for choice in choices],
            capabilities=capabilities_of(choices),
        )

    return router


def _config(settings: TenantSettings, services: RestServices) -> ConfigBody:
    return ConfigBody(
        ai_default_provider=settings.ai_default_provider or services.model_choices().preferred,
        ai_default_models=dict(settings.ai_default_models),
    )
