"""Who is calling over HTTP: the token, verified here whatever stands in front (decision 13).

The application's `state.token_verifier` gives the verifier; nothing else makes a `Principal`.
"""

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.http import HTTPBase

from archivolt.domain.errors import ForbiddenError, UnauthenticatedError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.entrypoints.credentials import principal_of

if TYPE_CHECKING:
    from archivolt.ports.governance import TokenVerifier

_bearer: Final = HTTPBearer(
    auto_error=False,
    scheme_name="BearerToken",
    description="A token of the identity provider (a JWT), or a personal access token.",
)
# Not `HTTPBasic`: it answers by itself to a user id that is not ASCII.
_basic: Final = HTTPBase(
    scheme="basic",
    auto_error=False,
    scheme_name="PersonalToken",
    description="HTTP Basic: your user id, and a personal access token as the password.",
)


# Not `async`: reading an identity provider's keys blocks, so it runs in a thread.
def authenticated(
    request: Request,
    _documented: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    _documented_too: Annotated[HTTPAuthorizationCredentials | None, Security(_basic)],
) -> Principal:
    """Return the caller.

    Raises:
        UnauthenticatedError: `missing_token` or `invalid_token`.
        UnavailableError: The identity provider's keys cannot be read.

    """
    header = request.headers.get("authorization")
    if not header:
        raise UnauthenticatedError("missing_token")
    verifier: TokenVerifier = request.app.state.token_verifier()
    return principal_of(header, verifier)


CurrentPrincipal = Annotated[Principal, Depends(authenticated)]
"""The caller, by any token."""


def interactive(request: Request, principal: CurrentPrincipal) -> Principal:
    """Return the caller if a person is behind the token: for every REST write (decision 26).

    Raises:
        ForbiddenError: `person_required`, or `token_read_only` for what is no reading.

    """
    if principal.kind is not TokenKind.INTERACTIVE:
        raise ForbiddenError("person_required")
    if principal.reach.read_only and request.method not in {"GET", "HEAD"}:
        raise ForbiddenError("token_read_only")
    return principal


InteractivePrincipal = Annotated[Principal, Depends(interactive)]
"""The caller, by a token that a person uses."""
