"""What a failure of the SDK or of a transport means to people (decision 8)."""

from collections.abc import Iterator
from typing import Final, cast

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR

from archivolt.domain.errors import ArchivoltError, UnavailableError

_TRANSPORT_CODES: Final = frozenset(
    {CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR}
)
_KEY_STATUSES: Final = frozenset({401, 403, 407})
_FIRST_FAILURE: Final = 400


class LinkLostError(Exception):
    """A connection broke off; whether a call on it was made is not known."""

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status

    @property
    def passes(self) -> bool:
        """Whether trying again can help: a key that is refused and a missing program stay so."""
        return self.reason in {"mcp_unreachable", "mcp_ended", "mcp_http_status"}

    def told(self, server: str) -> UnavailableError:
        """Return it as the failure of a server that cannot be used."""
        return UnavailableError(
            "mcp_server_unavailable", server=server, reason=self.reason, status=self.status
        )


def lost_by(error: BaseException, status: int = 0) -> LinkLostError:
    """Return why a connection was lost; `status` is that of the last HTTP answer, if it failed."""
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
    return by_status(status) or LinkLostError(_said(error))


def by_status(status: int) -> LinkLostError | None:
    """Return the loss that a status of HTTP stands for, None for one that is no failure."""
    if status < _FIRST_FAILURE:
        return None
    reason = "mcp_key_refused" if status in _KEY_STATUSES else "mcp_http_status"
    return LinkLostError(reason, status)


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
