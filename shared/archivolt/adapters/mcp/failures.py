"""What a failure of the SDK or of a transport means to people (decision 8)."""

from collections.abc import Iterator, Sequence
from typing import Final, Self, cast

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR

from archivolt.adapters.http.challenges import challenge_value, scopes_in
from archivolt.adapters.http.outbound import AnswerCapError, AnswerCompressedError
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.mcp_accounts import AccountNeededError

_TRANSPORT_CODES: Final = frozenset(
    {CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR}
)
_KEY_STATUSES: Final = frozenset({401, 403, 407})
_FIRST_FAILURE: Final = 400
_UNKNOWN: Final = 401
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
# In this order: some are of the kind of a later one.
_REASONS: Final[Sequence[tuple[type[BaseException] | tuple[type[BaseException], ...], str]]] = (
    (AnswerCompressedError, "mcp_garbled"),
    (AnswerCapError, "mcp_too_much"),
    (ArchivoltError, "mcp_address_private"),
    ((TimeoutError, httpx2.TimeoutException), "mcp_slow"),
    (OSError, "mcp_no_program"),
    ((httpx2.HTTPError, httpx2.InvalidURL), "mcp_unreachable"),
)


class LinkLostError(Exception):
    """A connection broke off; whether a call on it was made is not known.

    `challenge` is what the server says to who is not let in. `is_guess`: the status may be that of
    another request. `is_unsent`: the call has not even been sent.
    """

    def __init__(self, reason: str, status: int = 0, challenge: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.is_guess = False
        self.is_unsent = False
        self._challenge = challenge

    @classmethod
    def unsent(cls) -> Self:
        """Return the loss of a connection before a call was sent on it."""
        lost = cls("mcp_ended")
        lost.is_unsent = True
        return lost

    @property
    def passes(self) -> bool:
        """Whether trying again can help: a key that is refused and a missing program stay so."""
        return self.reason in {"mcp_unreachable", "mcp_ended", "mcp_http_status"}

    @property
    def is_unmade(self) -> bool:
        """Whether a call is known not to have been made: the session that it was for is gone."""
        return self.status == _NOT_FOUND and not self.is_guess

    @property
    def would_recur(self) -> bool:
        """Whether the same call would most likely break off again."""
        return self.reason == "mcp_too_much"

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
        for kinds, reason in _REASONS:
            if isinstance(each, kinds):
                return LinkLostError(reason)
    return by_status(status, challenge) or LinkLostError(_said(error))


def by_status(status: int, challenge: str = "") -> LinkLostError | None:
    """Return the loss that a status of HTTP stands for, None for one that is no failure."""
    if status < _FIRST_FAILURE:
        return None
    reason = "mcp_key_refused" if status in _KEY_STATUSES else "mcp_http_status"
    return LinkLostError(reason, status, challenge)


def breaks(error: MCPError, status: int, *, is_over: bool, alone: bool) -> bool:
    """Tell whether it is the connection that failed, and not the call: the SDK says both alike.

    `status` is that of the last HTTP answer, which is this call's if it was `alone`; `is_over`
    whether the connection has ended.
    """
    lost = by_status(status)
    if alone and lost is not None and lost.is_unmade:
        return True  # whatever words the server has for that
    if error.code not in _TRANSPORT_CODES:
        return False
    return is_over or error.code == CONNECTION_CLOSED or lost is not None


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
