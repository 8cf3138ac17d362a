"""Whether a change by an agent takes a person's yes, and where that person gives it."""

from enum import StrEnum

from archivolt.domain.identity import Principal
from archivolt.ports.governance import TenantSettingsStore, UserSettingsStore


class YesRule(StrEnum):
    """What counts as a person's yes to a change of their agent."""

    NONE = "none"
    """None is asked for."""
    FORM = "form"
    """A form that their client shows, or an approval in the product."""
    PRODUCT = "product"
    """An approval in the product, whose client cannot answer in their place."""


class HumanConfirmation:
    """The rule "writes only with human confirmation", of a tenant or of one user of it.

    Args:
        tenants: Where administrators turn it on.
        people: Where users turn it on for their own agents.
        approvals: The address below which a person answers.
        pages: Whether pages are there, for a browser; else they are REST resources.

    """

    def __init__(
        self,
        tenants: TenantSettingsStore,
        people: UserSettingsStore,
        approvals: str,
        *,
        pages: bool,
    ) -> None:
        self.pages = pages
        self._tenants = tenants
        self._people = people
        self._approvals = approvals

    def rule(self, principal: Principal) -> YesRule:
        """Return what is asked of this caller's agents: the stricter of the two.

        Raises:
            UnavailableError: It cannot be read.

        """
        of_tenant = self._tenants.load(principal.tenant)
        if of_tenant.human_confirmation_in_product:
            return YesRule.PRODUCT
        own = self._people.load(principal.tenant, principal.user)
        if own.human_confirmation_in_product:
            return YesRule.PRODUCT
        asked = of_tenant.human_confirmation or own.human_confirmation
        return YesRule.FORM if asked else YesRule.NONE

    def address(self, proposal_id: str) -> str:
        """Return where a person sees a proposal and answers."""
        return f"{self._approvals}/{proposal_id}"
