"""What people let in: shown to them and to their administrators, and ended by them."""

from collections.abc import Iterable

from archivolt.domain.errors import ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.oauth import OAuthGrant
from archivolt.domain.rights import may_reach_others, require_others
from archivolt.domain.tenancy import require_no_lesser_role
from archivolt.ports.clock import Clock
from archivolt.ports.oauth import OAuthGrantStore
from archivolt.ports.tenancy import TenantDirectory


class Connections:
    """Lists and ends grants; only for a person who signed in.

    Args:
        grants: Where they are kept.
        clock: The time.
        people: Knows the roles of those whose grants an administrator ends.

    """

    def __init__(self, grants: OAuthGrantStore, clock: Clock, people: TenantDirectory) -> None:
        self._grants = grants
        self._clock = clock
        self._people = people

    def own(self, principal: Principal) -> list[OAuthGrant]:
        """Return the caller's grants that have not ended, the newest first.

        Raises:
            ForbiddenError: `person_required`.

        """
        _require_person(principal)
        return self._alive(self._grants.of_user(principal.tenant, principal.user))

    def of_tenant(self, principal: Principal) -> list[OAuthGrant]:
        """Return the grants of everybody in the caller's tenant, by user, the newest first.

        Raises:
            ForbiddenError: `person_required`, or `forbidden`: the caller is no administrator.

        """
        _require_person(principal)
        require_others(principal, "list_connections")
        return self._alive(self._grants.of_tenant(principal.tenant))

    def end(self, principal: Principal, grant_id: str) -> None:
        """End a grant at once: one's own, or any of the tenant that one administers.

        Raises:
            ForbiddenError: `person_required`; `forbidden`: the caller has the lesser role.
            NotFoundError: `connection_not_found`: there is none, or it is somebody else's.

        """
        _require_person(principal)
        is_id = grant_id.isascii() and grant_id.isalnum()
        grant = self._grants.find(grant_id) if is_id else None
        if grant is None or not _may_end(principal, grant):
            raise NotFoundError("connection_not_found")
        who = grant.person
        if who.user != principal.user:
            require_no_lesser_role(principal, self._people.user(who.tenant, who.user))
        self._grants.remove(grant)

    def _alive(self, grants: Iterable[OAuthGrant]) -> list[OAuthGrant]:
        now = self._clock.now()
        return [grant for grant in grants if grant.expires_at > now]


def _require_person(principal: Principal) -> None:
    if principal.kind is not TokenKind.INTERACTIVE:
        raise ForbiddenError("person_required")


def _may_end(principal: Principal, grant: OAuthGrant) -> bool:
    if grant.person.tenant != principal.tenant:
        return False
    return grant.person.user == principal.user or may_reach_others(principal, "end_connection")
