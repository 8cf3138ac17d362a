"""Whether a change by an agent takes a person's yes, and where that person gives it."""

from archivolt.domain.identity import Principal
from archivolt.ports.governance import TenantSettingsStore


class HumanConfirmation:
    """The rule "writes only with human confirmation" of a tenant.

    Args:
        settings: Where tenants turn it on.
        public_url: The product's address without a final slash.

    """

    def __init__(self, settings: TenantSettingsStore, public_url: str) -> None:
        self._settings = settings
        self._public_url = public_url

    def required(self, principal: Principal) -> bool:
        """Tell whether a person has to agree to what this caller's agents change.

        Raises:
            UnavailableError: It cannot be read.

        """
        return self._settings.load(principal.tenant).human_confirmation

    def address(self, proposal_id: str) -> str:
        """Return where a person's own client sees a proposal; `/approve` below it agrees to it."""
        return f"{self._public_url}/api/v1/confirmations/{proposal_id}"
