"""What users choose for themselves, in force from their next request on."""

from pydantic import BaseModel, ConfigDict, Field

from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.user_settings import UserSettings
from archivolt.governance.human_confirmation import HumanConfirmation, YesRule
from archivolt.ports.governance import UserSettingsStore


class OwnSettingsChange(BaseModel):
    """The settings to change; what is absent or null stays."""

    model_config = ConfigDict(extra="forbid")

    human_confirmation: bool | None = Field(
        default=None,
        description="Whether what your agents change takes your yes: in a form of their client, or"
        " in the product.",
    )
    human_confirmation_in_product: bool | None = Field(
        default=None,
        description="Whether only a yes in the product counts: a client could answer its own form.",
    )


class OwnSettings:
    """Shows and changes a person's own settings; no program does, nor anybody else."""

    def __init__(self, store: UserSettingsStore, human: HumanConfirmation) -> None:
        self._store = store
        self._human = human

    def show(self, principal: Principal) -> tuple[UserSettings, YesRule]:
        """Return the caller's settings, and the rule in force, which their tenant may tighten.

        Raises:
            ForbiddenError: `person_required`.

        """
        _require_person(principal)
        settings = self._store.load(principal.tenant, principal.user)
        return settings, self._human.rule(principal)

    def change(
        self, principal: Principal, change: OwnSettingsChange
    ) -> tuple[UserSettings, YesRule]:
        """Change what `change` names; return as `show` does.

        Raises:
            ForbiddenError: `person_required`.

        """
        _require_person(principal)
        named = change.model_dump(exclude_none=True)
        changed = self._store.change(principal.tenant, principal.user, named)
        return changed, self._human.rule(principal)


def _require_person(principal: Principal) -> None:
    if principal.kind is not TokenKind.INTERACTIVE:
        raise ForbiddenError("person_required")
