"""A tenant's settings, for those who administer it (S12)."""

from typing import Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from archivolt.domain.settings import TenantSettings
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.governance.settings import SettingsChange
from archivolt.ports.provider_keys import KeyVerdict


class SettingsBody(BaseModel):
    """A tenant's settings as they are shown: the key as its fingerprint only."""

    chat_enabled: bool
    chat_provider: str = Field(description='"" leaves the choice to the deployment.')
    chat_model: str = Field(description='"" is the provider\'s own default.')
    chat_provider_keys: dict[str, str] = Field(description="Fingerprints of further keys.")
    chat_allowed_providers: list[str] = Field(description="Empty: every one.")
    ai_default_provider: str
    ai_default_models: dict[str, str]
    chat_base_url: str
    chat_max_tokens_per_request: int
    chat_api_key: str = Field(description='The fingerprint of the key; "" when none is set.')
    human_confirmation: bool
    human_confirmation_in_product: bool
    embedding_api_key: str = Field(description='The fingerprint of the key; "" when none is set.')
    embedding_account: str
    web_after_documents: bool
    skills_enabled: bool
    chat_retention_days: int
    chat_monthly_budget_usd: float | None = Field(description="Null: no budget.")
    chat_daily_tokens_per_user: int | None = Field(description="Null: no limit.")
    chat_model_prices: dict[str, dict[str, float]]

    @classmethod
    def of(cls, settings: TenantSettings) -> Self:
        """Return what may be shown."""
        return cls(
            chat_enabled=settings.chat_enabled,
            chat_provider=settings.chat_provider,
            chat_model=settings.chat_model,
            chat_provider_keys=dict(settings.provider_key_fingerprints),
            chat_allowed_providers=list(settings.chat_allowed_providers),
            ai_default_provider=settings.ai_default_provider,
            ai_default_models=dict(settings.ai_default_models),
            chat_base_url=settings.chat_base_url,
            chat_max_tokens_per_request=settings.chat_max_tokens_per_request,
            chat_api_key=settings.chat_api_key_fingerprint,
            human_confirmation=settings.human_confirmation,
            human_confirmation_in_product=settings.human_confirmation_in_product,
            embedding_api_key=settings.embedding_api_key_fingerprint,
            embedding_account=settings.embedding_account,
            web_after_documents=settings.web_after_documents,
            skills_enabled=settings.skills_enabled,
            chat_retention_days=settings.chat_retention_days,
            chat_monthly_budget_usd=_number(settings.chat_monthly_budget_usd),
            chat_daily_tokens_per_user=settings.chat_daily_tokens_per_user,
            chat_model_prices={
                model: {side: float(price) for side, price in prices.items()}
                for model, prices in settings.chat_model_prices.items()
            },
        )


def _number(decimal: str) -> float | None:
    return float(decimal) if decimal else None


class KeyTrialBody(BaseModel):
    """What a provider says of the key that the settings hold for it."""

    provider: str
    verdict: KeyVerdict = Field(
        description="unclear: it answered something else; unreachable: nobody answers in time."
    )
    status: int | None = Field(description="The provider's HTTP status; null without an answer.")


def settings_router(services: ServicesOf) -> APIRouter:
    """Return the routes of settings."""
    router = APIRouter(tags=["settings"])

    @router.get(
        "/tenants/{tenant}/settings",
        summary="See a tenant's settings",
        operation_id="tenant_settings",
    )
    def show_settings(principal: InteractivePrincipal, tenant: str) -> SettingsBody:  # pyright: ignore[reportUnusedFunction]
        """Only its administrators may, with a person's own token."""
        with services().by_hand.administering(
            principal, "tenant_settings", changes=False, tenant=tenant
        ):
            return SettingsBody.of(services().tenant_settings.show(principal, tenant))

    @router.put(
        "/tenants/{tenant}/settings",
        summary="Change a tenant's settings",
        operation_id="change_tenant_settings",
    )
    def change_settings(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, tenant: str, change: SettingsChange
    ) -> SettingsBody:
        """What the body names is changed from the next request on; the rest stays."""
        # The names only: not even a digest of a key is kept.
        names = sorted(change.model_fields_set)
        with services().by_hand.administering(
            principal, "change_tenant_settings", tenant=tenant, names=names
        ):
            changed = services().tenant_settings.change(principal, tenant, change)
        return SettingsBody.of(changed)

    _add_key_tests(router, services)
    return router


def _add_key_tests(router: APIRouter, services: ServicesOf) -> None:
    @router.post(
        "/tenants/{tenant}/keys/{provider}/test",
        summary="Try a provider's key",
        operation_id="test_provider_key",
    )
    def test_provider_key(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, tenant: str, provider: str
    ) -> KeyTrialBody:
        """The provider is asked for its models, which costs nothing; its words stay with it."""
        with services().by_hand.administering(
            principal, "test_provider_key", tenant=tenant, provider=provider
        ):
            trial = services().key_tests().test(principal, tenant, provider)
        return KeyTrialBody(provider=provider, verdict=trial.verdict, status=trial.status)
