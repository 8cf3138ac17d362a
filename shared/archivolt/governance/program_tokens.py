"""What a program's call stands on, so that work which outlives the call ends with it.

A personal access token, or what a person let a program in with. A person's own sign-in, and tokens
of the identity provider, cannot be ended here: they are not named.
"""

from collections.abc import Callable
from typing import Final

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.ports.clock import Clock
from archivolt.ports.oauth import OAuthGrantStore
from archivolt.ports.personal_tokens import PersonalTokenStore

_PERSONAL: Final = "personal:"
_GRANT: Final = "grant:"


class ProgramTokens:
    """Names what callers came in with, and tells whether it is still good.

    Args:
        personal: Gives where personal access tokens are kept, when first needed.
        grants: Gives where it is kept what people let in, when first needed.
        clock: The time.

    """

    def __init__(
        self,
        personal: Callable[[], PersonalTokenStore],
        grants: Callable[[], OAuthGrantStore],
        clock: Clock,
    ) -> None:
        self._personal = personal
        self._grants = grants
        self._clock = clock

    def name_of(self, principal: Principal) -> str:
        """Return the name of what a verified caller came in with; "": it cannot be ended here.

        Raises:
            UnauthenticatedError: `invalid_token`: it has ended meanwhile.

        """
        of_whom = principal.tenant, principal.user
        if principal.kind is TokenKind.PERSONAL:
            for token in self._personal().of_user(*of_whom):
                if token.digest.startswith(principal.token_id):
                    return f"{_PERSONAL}{token.id}"
            raise UnauthenticatedError("invalid_token")
        if principal.kind is TokenKind.MCP:
            for grant in self._grants().of_user(*of_whom):
                if grant.principal().token_id == principal.token_id:
                    return f"{_GRANT}{grant.id}"
        return ""

    def is_good(self, name: str) -> bool:
        """Tell whether what has this name is neither ended nor over, at the cost of one read."""
        if not name:
            return True
        if name.startswith(_PERSONAL):
            found = self._personal().find(name.removeprefix(_PERSONAL))
        else:
            found = self._grants().find(name.removeprefix(_GRANT))
        return found is not None and found.expires_at > self._clock.now()
