"""Signing in at the deployment's identity provider (OpenID Connect, with PKCE).

All that has to be remembered between going there and coming back follows from one secret in the
browser's cookie: another browser cannot finish what this one began, and nothing is kept.
"""

import hashlib
import hmac
from dataclasses import dataclass

from archivolt.domain.errors import ForbiddenError, UnauthenticatedError
from archivolt.domain.oauth import Person
from archivolt.domain.token_forms import SECRET_CHARS, random_text
from archivolt.governance.oauth.tokens import challenge_of
from archivolt.ports.identity_provider import CodeAnswer, IdentityProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """Where a browser goes to sign in, and the secret that it keeps until it is back."""

    address: str
    secret: str


class UpstreamSignIn:
    """Sends people to the provider, and knows them when they are back.

    Args:
        provider: The identity provider.
        callback: Our address to which it sends them back.

    """

    def __init__(self, provider: IdentityProvider, callback: str) -> None:
        self._provider = provider
        self._callback = callback

    def depart(self, *, again: bool = False) -> Departure:
        """Return where to sign in; `again`: even somebody whom the provider knows there.

        Raises:
            UnavailableError: The provider does not say where.

        """
        secret = random_text(SECRET_CHARS)
        address = self._provider.sign_in_address(
            redirect_uri=self._callback,
            state=_derived("state", secret),
            nonce=_derived("nonce", secret),
            challenge=challenge_of(_derived("verifier", secret)),
            again=again,
        )
        return Departure(address=address, secret=secret)

    def arrive(self, *, secret: str, state: str, code: str) -> Person:
        """Return who signed in.

        Raises:
            ForbiddenError: `form_foreign`: not from this browser, or too long ago;
                `identity_refused`: the provider's word is not good, or says too little.
            UnavailableError: The provider does not answer.

        """
        expected = _derived("state", secret).encode()
        if not secret or not hmac.compare_digest(expected, state.encode("utf-8", "replace")):
            raise ForbiddenError("form_foreign")
        answer = CodeAnswer(
            code=code,
            redirect_uri=self._callback,
            verifier=_derived("verifier", secret),
            nonce=_derived("nonce", secret),
        )
        try:
            return self._provider.person(answer)
        except UnauthenticatedError as error:
            raise ForbiddenError("identity_refused") from error


def _derived(purpose: str, secret: str) -> str:
    return hashlib.sha256(f"{purpose}:{secret}".encode()).hexdigest()
