"""Where people of a deployment sign in."""

from dataclasses import dataclass
from typing import Protocol

from archivolt.domain.oauth import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer:
    """What a browser brought back, and what has to fit it."""

    code: str
    redirect_uri: str
    verifier: str
    nonce: str


class IdentityProvider(Protocol):
    """Knows people, and says who signed in."""

    def sign_in_address(
        self, *, redirect_uri: str, state: str, nonce: str, challenge: str, again: bool
    ) -> str:
        """Return where a browser goes to sign in; `challenge` is PKCE's, by S256.

        `again`: the provider asks even if it knows somebody in that browser.

        Raises:
            UnavailableError: The provider does not say.

        """
        ...

    def person(self, answer: CodeAnswer) -> Person:
        """Return who signed in.

        Raises:
            UnauthenticatedError: `invalid_token`: the code or what it gives is not good.
            UnavailableError: The provider does not answer.

        """
        ...
