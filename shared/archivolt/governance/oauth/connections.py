"""What a person let in: shown to them, and ended by them."""

from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.oauth import OAuthGrant
from archivolt.ports.clock import Clock
from archivolt.ports.oauth import OAuthGrantStore


class Connections:
    """Lists and ends grants of the caller."""

    def __init__(self, grants: OAuthGrantStore, clock: Clock) -> None:
        self._grants = grants
        self._clock = clock

    def own(self, principal: Principal) -> list[OAuthGrant]:
        """Return the caller's grants that have not ended, the newest first."""
        now = self._clock.now()
        found = self._grants.of_user(principal.tenant, principal.user)
        return [grant for grant in found if grant.expires_at > now]

    def end(self, principal: Principal, grant_id: str) -> None:
        """End one of the caller's grants, at once.

        Raises:
            NotFoundError: `connection_not_found`: there is none, or it is somebody else's.

        """
        found = next((grant for grant in self.own(principal) if grant.id == grant_id), None)
        if found is None:
            raise NotFoundError("connection_not_found")
        self._grants.remove(found)
