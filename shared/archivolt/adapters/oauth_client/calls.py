"""Calls to addresses that strangers name: guarded, a little, soon, and without redirects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast
from urllib.parse import SplitResult, urlsplit

import httpx2

from archivolt.adapters.http.addresses import OutboundRules, is_public_name
from archivolt.adapters.http.outbound import Caps, guarded_client
from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import ConflictError, InvalidRequestError, UnavailableError
from archivolt.domain.federation_limits import (
    MAX_OAUTH_ANSWER_BYTES,
    OAUTH_CONNECT_SECONDS,
    OAUTH_SECONDS,
)
from archivolt.domain.limits import MAX_URL_CHARS

_PORTS: Final = {"https": 443, "http": 80}
# Names and passwords; and browsers read a host's escapes, where nobody else does.
_NO_HOST: Final = frozenset("@%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Led:
    """Which MCP server leads us somewhere, with its address, and by when it has to be over."""

    server: str
    url: str
    deadline: Deadline


class OAuthCalls:
    """Calls to the authorization servers of MCP servers.

    What the deployment allows by name is for servers of those names alone: one of the public
    Internet leads nobody to what is private here (RFC 9728 §7.7).

    Args:
        rules: Where the address of an MCP server may lead.
        client: Makes a client for rules; for tests.

    """

    def __init__(
        self,
        rules: OutboundRules,
        client: Callable[[OutboundRules], httpx2.Client] | None = None,
    ) -> None:
        self._rules = rules
        self._client = cache(client or _client)

    def _is_inside(self, url: str) -> bool:
        # Whether the deployment names the host of an MCP server.
        parts = urlsplit(url)
        return self._rules.allows(parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0))

    def send(
        self,
        led: Led,
        address: str,
        *,
        method: str = "GET",
        form: Mapping[str, str] | None = None,
        json: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Return the answer of an address, by the deadline.

        Raises:
            UnavailableError: `mcp_server_unavailable`.

        """
        left = led.deadline.left()
        if not left:
            raise _unavailable(led.server, "mcp_slow")
        client = self._client(self._rules_for(led.url))
        try:
            return client.request(
                method,
                address,
                data=form,
                json=json,
                headers={"accept": "application/json", **(headers or {})},
                timeout=_shared(left),
            )
        except InvalidRequestError as error:
            raise _unavailable(led.server, "mcp_address_private") from error
        except httpx2.TimeoutException as error:
            raise _unavailable(led.server, "mcp_slow") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _unavailable(led.server, "mcp_unreachable") from error

    def address(self, led: Led, value: object) -> str:
        """Return an address that a document names, if people and tokens may be sent there.

        Raises:
            ConflictError: `mcp_sign_in_unusable`: it is not one of https, or has more than that.

        """
        parts = _split(value)
        schemes = {"https", "http"} if self._is_inside(led.url) else {"https"}
        if parts is None or parts.scheme not in schemes or not self._is_public(led, parts):
            raise ConflictError("mcp_sign_in_unusable", server=led.server, reason="oauth_address")
        return str(value)

    def _is_public(self, led: Led, parts: SplitResult) -> bool:
        # Our own calls are guarded; a browser goes where it is sent.
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        return is_public_name(host) or self._rules_for(led.url).allows(host, port)

    def _rules_for(self, url: str) -> OutboundRules:
        return self._rules if self._is_inside(url) else OutboundRules()


def object_of(response: httpx2.Response) -> dict[str, Any] | None:
    """Return the JSON object of an answer, None if it holds none."""
    try:
        read: object = response.json()
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", read) if isinstance(read, dict) else None


def _split(value: object) -> SplitResult | None:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_URL_CHARS:
        return None
    if not value.isascii() or not value.isprintable() or set(value) & set(' "<>\\^`{|}'):
        return None
    try:
        parts = urlsplit(value)
        usable = (
            parts.port != 0
            and parts.hostname
            and not set(parts.netloc) & _NO_HOST
            and not parts.fragment
        )
    except ValueError:
        return None
    return parts if usable else None


def _unavailable(server: str, reason: str) -> UnavailableError:
    return UnavailableError("mcp_server_unavailable", server=server, reason=reason, status=0)


def _shared(left: float) -> httpx2.Timeout:
    """Return what is left, shared out: all that a call waits for is over by then.

    A connection waits for its turn, its name, its addresses and its TLS; an answer has two shares.
    """
    share = min(OAUTH_CONNECT_SECONDS, left / 6)
    return httpx2.Timeout(min(OAUTH_SECONDS, left / 3), connect=share, pool=share)


def _client(rules: OutboundRules) -> httpx2.Client:
    caps = Caps(max_bytes=MAX_OAUTH_ANSWER_BYTES, seconds=None)
    return guarded_client(rules, caps)
