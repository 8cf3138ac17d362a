"""What a person chooses for themselves."""

from typing import Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from archivolt.domain.user_settings import UserSettings
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.governance.human_confirmation import YesRule
from archivolt.governance.own_settings import OwnSettingsChange


class OwnSettingsBody(BaseModel):
    """A person's own settings, and what is in force for their agents."""

    human_confirmation: bool
    human_confirmation_in_product: bool
    in_force: YesRule = Field(
        description="What counts as your yes to a change of an agent: your setting or your"
        " tenant's, the stricter of the two."
    )

    @classmethod
    def of(cls, shown: tuple[UserSettings, YesRule]) -> Self:
        """Return settings as they are shown."""
        settings, rule = shown
        return cls(
            human_confirmation=settings.human_confirmation,
            human_confirmation_in_product=settings.human_confirmation_in_product,
            in_force=rule,
        )


def own_settings_router(services: ServicesOf) -> APIRouter:
    """Return the routes of a person's own settings."""
    router = APIRouter(tags=["settings"])

    @router.get("/me/settings", summary="See your own settings", operation_id="own_settings")
    def show_settings(principal: InteractivePrincipal) -> OwnSettingsBody:  # pyright: ignore[reportUnusedFunction]
        """With a person's own token only."""
        with services().by_hand.doing(principal, "own_settings"):
            return OwnSettingsBody.of(services().own_settings.show(principal))

    @router.put(
        "/me/settings", summary="Change your own settings", operation_id="change_own_settings"
    )
    def change_settings(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, change: OwnSettingsChange
    ) -> OwnSettingsBody:
        """What the body names is changed from the next request on; the rest stays."""
        names = sorted(change.model_fields_set)
        with services().by_hand.doing(principal, "change_own_settings", names=names):
            return OwnSettingsBody.of(services().own_settings.change(principal, change))

    return router
