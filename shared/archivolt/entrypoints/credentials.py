"""Who an `Authorization` header speaks for: a bearer token, or HTTP Basic (R5).

With Basic the password is a personal access token and the user name its owner: for clients that
know nothing else. No other token is taken that way.
"""

import base64

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Principal
from archivolt.domain.personal_tokens import PREFIX
from archivolt.ports.governance import TokenVerifier


def principal_of(header: str, verifier: TokenVerifier) -> Principal:
    """Return the caller.

    Raises:
        UnauthenticatedError: `missing_token`: there is none in it; `invalid_token`.
        UnavailableError: The identity provider's keys, or the tokens, cannot be read.

    """
    scheme, _, credentials = header.partition(" ")
    credentials = credentials.strip()
    if credentials and scheme.lower() == "bearer":
        return verifier.verify(credentials)
    if credentials and scheme.lower() == "basic":
        return _basic(credentials, verifier)
    raise UnauthenticatedError("missing_token")


def _basic(credentials: str, verifier: TokenVerifier) -> Principal:
    try:
        user, _, password = base64.b64decode(credentials, validate=True).decode().partition(":")
    except ValueError as error:  # not ASCII, not base64, or not UTF-8
        raise UnauthenticatedError("missing_token") from error
    if not password.startswith(PREFIX):
        raise UnauthenticatedError("missing_token")
    principal = verifier.verify(password)
    if principal.user != user:
        raise UnauthenticatedError("invalid_token")
    return principal
