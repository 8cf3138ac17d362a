"""Personal access tokens: made, listed and revoked by their owners, and by administrators.

The identity provider keeps roles, and tells them in its own tokens only: a token of ours has none
of its owner's, and ends.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from archivolt.domain.errors import ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal, TokenKind, TokenReach
from archivolt.domain.limits import MAX_PERSONAL_TOKENS
from archivolt.domain.personal_tokens import PersonalToken, digest_of, new_token
from archivolt.domain.rights import may_reach_others, require_others
from archivolt.domain.tenancy import require_no_lesser_role
from archivolt.ports.clock import Clock
from archivolt.ports.personal_tokens import PersonalTokenStore
from archivolt.ports.tenancy import TenantDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedToken:
    """A token to make; `reach` is in ids of vaults that its owner reaches."""

    name: str
    reach: TokenReach
    days: int


class PersonalTokens:
    """Makes, lists and revokes tokens; only for a person who signed in.

    Args:
        store: Gives where they are kept, when first needed.
        clock: The time.
        people: Knows the roles of those whose tokens an administrator ends.

    """

    def __init__(
        self, store: Callable[[], PersonalTokenStore], clock: Clock, people: TenantDirectory
    ) -> None:
        self._store = store
        self._clock = clock
        self._people = people

    def create(self, principal: Principal, wanted: WantedToken) -> tuple[PersonalToken, str]:
        """Return a new token of the caller, and its text, which nobody can read again.

        Raises:
            ForbiddenError: `person_required`.
            ConflictError: `too_many_tokens`.

        """
        _require_person(principal)
        secret = new_token()
        now = self._clock.now()
        token = PersonalToken(
            id=secret.id,
            tenant=principal.tenant,
            user=principal.user,
            name=wanted.name,
            reach=wanted.reach,
            digest=digest_of(secret.text),
            fingerprint=secret.fingerprint,
            created_at=now,
            expires_at=now + timedelta(days=wanted.days),
        )
        self._store().add(token, limit=MAX_PERSONAL_TOKENS)
        return token, secret.text

    def own(self, principal: Principal) -> list[PersonalToken]:
        """Return the caller's tokens, the newest first.

        Raises:
            ForbiddenError: `person_required`.

        """
        _require_person(principal)
        return self._store().of_user(principal.tenant, principal.user)

    def of_tenant(self, principal: Principal) -> list[PersonalToken]:
        """Return the tokens of everybody in the caller's tenant.

        Raises:
            ForbiddenError: `person_required`, or `forbidden`: the caller is no administrator.

        """
        _require_person(principal)
        require_others(principal, "list_tokens")
        return self._store().of_tenant(principal.tenant)

    def revoke(self, principal: Principal, token_id: str) -> None:
        """End a token at once: one's own, or any of the tenant that one administers.

        Raises:
            ForbiddenError: `person_required`; `forbidden`: the caller has the lesser role.
            NotFoundError: `token_not_found`: there is none, or it is somebody else's.

        """
        _require_person(principal)
        token = self._store().find(token_id) if token_id.isascii() and token_id.isalnum() else None
        if token is None or not _may_revoke(principal, token):
            raise NotFoundError("token_not_found")
        if token.user != principal.user:
            require_no_lesser_role(principal, self._people.user(token.tenant, token.user))
        self._store().remove(token)


def _require_person(principal: Principal) -> None:
    if principal.kind is not TokenKind.INTERACTIVE:
        raise ForbiddenError("person_required")


def _may_revoke(principal: Principal, token: PersonalToken) -> bool:
    if token.tenant != principal.tenant:
        return False
    return token.user == principal.user or may_reach_others(principal, "revoke_token")
