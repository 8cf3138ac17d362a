"""Who is calling over HTTP, and whether they may: here, for every route, and nowhere else.

The token is verified whatever stands in front (decision 13), then held to the route's row in the
table of rights. The application's `state.token_verifier` gives the verifier; nothing else makes a
`Principal`.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.http import HTTPBase

from archivolt.domain.errors import ForbiddenError, UnauthenticatedError
from archivolt.domain.identity import Principal
from archivolt.domain.rights import RIGHTS, Right, require
from archivolt.entrypoints.credentials import principal_of

if TYPE_CHECKING:
    from archivolt.ports.governance import TokenVerifier

NoteRefusal = Callable[[Principal, str, ForbiddenError], None]
"""Is told whom the table refused what, by its operation id, and why."""

Count = Callable[[Principal, str], None]
"""Holds a caller to the rate limit, by the operation's id."""


def _uncounted(principal: Principal, operation: str) -> None:
    del principal, operation


def _unnoted(principal: Principal, operation: str, error: ForbiddenError) -> None:
    del principal, operation, error


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What an application holds its callers to.

    `rights` say who may call which operation, and `note_refusal` is told whom they refused. `count`
    is asked for each call but of operations that count where they do their work. `early_verifier`
    is that of operations that let their caller in where they do it (`admits_itself`).
    """

    rights: Mapping[str, Right] = field(default_factory=lambda: RIGHTS)
    note_refusal: NoteRefusal = _unnoted
    count: Count = _uncounted
    counts_itself: Container[str] = ()
    admits_itself: Container[str] = ()
    early_verifier: "Callable[[], TokenVerifier] | None" = None


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
    """Return the caller, who has what the route takes.

    Raises:
        UnauthenticatedError: `missing_token` or `invalid_token`.
        ForbiddenError: `forbidden`, `person_required`, `token_read_only`; or they may not come in.
        RateLimitedError: `rate_limited`.
        UnavailableError: The identity provider's keys cannot be read.
        LookupError: The route has no row in the table of rights.

    """
    header = request.headers.get("authorization")
    if not header:
        raise UnauthenticatedError("missing_token")
    principal = principal_of(header, _verifier(request))
    _require_right(request, principal)
    return principal


def _verifier(request: Request) -> "TokenVerifier":
    gate: Gate = request.app.state.gate
    early = _operation(request) in gate.admits_itself and gate.early_verifier
    return (early or request.app.state.token_verifier)()


def _operation(request: Request) -> str:
    return str(request.scope["route"].operation_id)


def _require_right(request: Request, principal: Principal) -> None:
    operation = _operation(request)
    gate: Gate = request.app.state.gate
    if operation not in gate.rights:
        raise LookupError(f"domain/rights.py does not say who may call {operation}")
    try:
        require(gate.rights[operation], principal, reads=request.method in {"GET", "HEAD"})
    except ForbiddenError as error:
        gate.note_refusal(principal, operation, error)
        raise
    if operation not in gate.counts_itself:
        gate.count(principal, operation)


CurrentPrincipal = Annotated[Principal, Depends(authenticated)]
"""The caller."""

InteractivePrincipal = CurrentPrincipal
"""The caller; a person, as the table says of the route."""
