"""Calls to addresses that strangers name: guarded, a little, soon, and without redirects."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, cast
from urllib.parse import SplitResult, urlsplit

import httpx2

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.outbound import Caps, guarded_client
from archivolt.domain.errors import ConflictError, InvalidRequestError, UnavailableError
from archivolt.domain.federation_limits import MAX_OAUTH_ANSWER_BYTES, OAUTH_SECONDS
from archivolt.domain.limits import MAX_URL_CHARS

_TIMEOUT: Final = httpx2.Timeout(OAUTH_SECONDS, connect=5)
_PORTS: Final = {"https": 443, "http": 80}


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

    def is_inside(self, url: str) -> bool:
        """Tell whether the deployment names the host of an MCP server."""
        parts = urlsplit(url)
        return self._rules.allows(parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0))

    def send(
        self,
        server: str,
        url: str,
        address: str,
        *,
        method: str = "GET",
        form: Mapping[str, str] | None = None,
        json: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Return the answer of an address that the server at `url` led us to.

        Raises:
            UnavailableError: `mcp_server_unavailable`.

        """
        client = self._client(self._rules if self.is_inside(url) else OutboundRules())
        try:
            return client.request(
                method,
                address,
                data=form,
                json=json,
                headers={"accept": "application/json", **(headers or {})},
                timeout=_TIMEOUT,
            )
        except InvalidRequestError as error:
            raise _unavailable(server, "mcp_address_private") from error
        except httpx2.TimeoutException as error:
            raise _unavailable(server, "mcp_slow") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _unavailable(server, "mcp_unreachable") from error

    def address(self, server: str, url: str, value: object) -> str:
        """Return an address that a document names, if people and tokens may be sent there.

        Raises:
            ConflictError: `mcp_sign_in_unusable`: it is not one of https, or has more than that.

        """
        parts = _split(value)
        schemes = {"https", "http"} if self.is_inside(url) else {"https"}
        if parts is None or parts.scheme not in schemes:
            raise ConflictError("mcp_sign_in_unusable", server=server, reason="oauth_address")
        return str(value)


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
            parts.port != 0 and parts.hostname and "@" not in parts.netloc and not parts.fragment
        )
    except ValueError:
        return None
    return parts if usable else None


def _unavailable(server: str, reason: str) -> UnavailableError:
    return UnavailableError("mcp_server_unavailable", server=server, reason=reason, status=0)


def _client(rules: OutboundRules) -> httpx2.Client:
    caps = Caps(max_bytes=MAX_OAUTH_ANSWER_BYTES, seconds=OAUTH_SECONDS)
    return guarded_client(rules, caps)
