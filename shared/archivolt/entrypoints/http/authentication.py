"""Who is calling over HTTP: the bearer token, verified here whatever stands in front (decision 13).

The application's `state.token_verifier` gives the verifier; nothing else makes a `Principal`.
"""

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from archivolt.domain.errors import ForbiddenError, UnauthenticatedError
from archivolt.domain.identity import Principal, TokenKind

if TYPE_CHECKING:
    from archivolt.ports.governance import TokenVerifier

_bearer: Final = HTTPBearer(auto_error=False, scheme_name="BearerToken", bearerFormat="JWT")


# Not `async`: reading an identity provider's keys blocks, so it runs in a thread.
def authenticated(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> Principal:
    """Return the caller.

    Raises:
        UnauthenticatedError: `missing_token` or `invalid_token`.
        UnavailableError: The identity provider's keys cannot be read.

    """
    if credentials is None:
        raise UnauthenticatedError("missing_token")
    verifier: TokenVerifier = request.app.state.token_verifier()
    return verifier.verify(credentials.credentials)


CurrentPrincipal = Annotated[Principal, Depends(authenticated)]
"""The caller, by any token."""


def interactive(principal: CurrentPrincipal) -> Principal:
    """Return the caller if a person is behind the token: for every REST write (decision 26).

    Raises:
        ForbiddenError: `person_required`.

    """
    if principal.kind is not TokenKind.INTERACTIVE:
        raise ForbiddenError("person_required")
    return principal


InteractivePrincipal = Annotated[Principal, Depends(interactive)]
"""The caller, by a token that a person uses."""
