"""What a failure of the SDK or of a transport means to people (decision 8)."""

from collections.abc import Iterator
from typing import Final, cast

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR

from archivolt.adapters.http.challenges import challenge_value, scopes_in
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.mcp_accounts import AccountNeededError

_TRANSPORT_CODES: Final = frozenset(
    {CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR}
)
_KEY_STATUSES: Final = frozenset({401, 403, 407})
_FIRST_FAILURE: Final = 400
_UNKNOWN: Final = 401
_FORBIDDEN: Final = 403


class LinkLostError(Exception):
    """A connection broke off; whether a call on it was made is not known.

    `challenge` is what the server says to who is not let in.
    """

    def __init__(self, reason: str, status: int = 0, challenge: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self._challenge = challenge

    @property
    def passes(self) -> bool:
        """Whether trying again can help: a key that is refused and a missing program stay so."""
        return self.reason in {"mcp_unreachable", "mcp_ended", "mcp_http_status"}

    def asked(self, server: str) -> AccountNeededError | None:
        """Return what the server asks of the person, None for nothing: then no call was made."""
        lacks = challenge_value(self._challenge, "error") == "insufficient_scope"
        lacks_scope = self.status == _FORBIDDEN and lacks
        if self.status != _UNKNOWN and not lacks_scope:
            return None
        scope = scopes_in(challenge_value(self._challenge, "scope"))
        return AccountNeededError(server, scope=scope, lacks_scope=lacks_scope)

    def told(self, server: str) -> UnavailableError:
        """Return it as the failure of a server that cannot be used."""
        return UnavailableError(
            "mcp_server_unavailable", server=server, reason=self.reason, status=self.status
        )


def lost_by(error: BaseException, status: int = 0, challenge: str = "") -> LinkLostError:
    """Return why a connection was lost; `status` is that of the last HTTP answer, if it failed.

    `challenge` is what that answer says to who is not let in.
    """
    for each in _leaves(error):
        if isinstance(each, LinkLostError):
            return each
        if isinstance(each, ArchivoltError):
            return LinkLostError("mcp_address_private")
        if isinstance(each, TimeoutError | httpx2.TimeoutException):
            return LinkLostError("mcp_slow")
        if isinstance(each, OSError):
            return LinkLostError("mcp_no_program")
        if isinstance(each, httpx2.HTTPError | httpx2.InvalidURL):
            return LinkLostError("mcp_unreachable")
    return by_status(status, challenge) or LinkLostError(_said(error))


def by_status(status: int, challenge: str = "") -> LinkLostError | None:
    """Return the loss that a status of HTTP stands for, None for one that is no failure."""
    if status < _FIRST_FAILURE:
        return None
    reason = "mcp_key_refused" if status in _KEY_STATUSES else "mcp_http_status"
    return LinkLostError(reason, status, challenge)


def is_of_the_link(error: MCPError) -> bool:
    """Tell whether the SDK says of a connection what it could not have heard from the server."""
    return error.code in _TRANSPORT_CODES


def _said(error: BaseException) -> str:
    for each in _leaves(error):
        if isinstance(each, MCPError):
            return "mcp_ended" if each.code == CONNECTION_CLOSED else "mcp_garbled"
    return "mcp_garbled"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(each)
    else:
        yield error
