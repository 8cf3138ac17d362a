"""The authorization servers of MCP servers: discovery, registration, tokens, revocation."""

import base64
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard
from urllib.parse import quote

import httpx2

from archivolt.adapters.http.challenges import scopes_in
from archivolt.adapters.oauth_client.calls import Led, OAuthCalls, object_of
from archivolt.adapters.oauth_client.discovery import Discovery
from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import UnavailableError
from archivolt.domain.federation_limits import (
    MAX_CLIENT_ID_CHARS,
    MAX_OAUTH_TOKEN_CHARS,
    MAX_OAUTH_TOKEN_SECONDS,
)
from archivolt.domain.mcp_accounts import (
    AuthorizationServer,
    McpOAuthClient,
    OAuthRefusedError,
    OAuthWay,
    Registration,
    TokenAnswer,
    client_description,
)

_OK: Final = 200
_CREATED: Final = 201
_REFUSALS: Final = range(400, 404)
_ERROR: Final = re.compile(r"[a-z_]{1,40}")
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
_SPOKEN: Final = re.compile(r"[\x20-\x7e]+")
# The end of the year 9998.
_LAST_MOMENT: Final = 253_370_764_799
_DIGITS: Final = re.compile(r"[0-9]{1,9}")
_METHODS: Final = ("none", "client_secret_post", "client_secret_basic")


class HttpAuthorizationServers:
    """An `AuthorizationServers` over HTTP."""

    def __init__(self, calls: OAuthCalls) -> None:
        self._calls = calls

    def discover(self, server: str, url: str, deadline: Deadline) -> AuthorizationServer:
        """Return who lets people in to the MCP server at an address."""
        return Discovery(self._calls, Led(server=server, url=url, deadline=deadline)).found()

    def register(
        self, way: OAuthWay, endpoint: str, redirect_uri: str, deadline: Deadline
    ) -> Registration:
        """Register a client of ours."""
        wished = client_description(redirect_uri) | {
            "token_endpoint_auth_method": way.client.method
        }
        answer = self._calls.send(_led(way, deadline), endpoint, method="POST", json=wished)
        read = _accepted(way.server, answer)
        client_id, secret = read.get("client_id"), read.get("client_secret") or ""
        method = read.get("token_endpoint_auth_method") or (
            "client_secret_basic" if secret else "none"
        )
        if not _is_text(client_id, _SPOKEN, MAX_CLIENT_ID_CHARS) or method not in _METHODS:
            raise _garbled(way.server)
        if secret and not _is_text(secret, _SPOKEN, MAX_OAUTH_TOKEN_CHARS):
            raise _garbled(way.server)
        client = McpOAuthClient(id=client_id, secret=secret, method=method)
        ends_at = _moment(read.get("client_secret_expires_at")) if secret else None
        return Registration(client=client, ends_at=ends_at)

    def exchange(
        self, way: OAuthWay, *, code: str, verifier: str, redirect_uri: str, deadline: Deadline
    ) -> TokenAnswer:
        """Return the tokens for a code."""
        return self._tokens(
            way,
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": redirect_uri,
                "code_verifier": verifier,
            },
            deadline,
        )

    def renew(self, way: OAuthWay, refresh: str, deadline: Deadline) -> TokenAnswer:
        """Return new tokens for a refresh token."""
        form = {"grant_type": "refresh_token", "refresh_token": refresh}
        return self._tokens(way, form, deadline)

    def revoke(self, way: OAuthWay, token: str, deadline: Deadline) -> None:
        """Have a token ended, where that can be asked for."""
        if way.revocation_endpoint:
            self._post(way, way.revocation_endpoint, {"token": token}, deadline)

    def _tokens(self, way: OAuthWay, form: Mapping[str, str], deadline: Deadline) -> TokenAnswer:
        form = {**form, "resource": way.resource}
        answer = self._post(way, way.token_endpoint, form, deadline)
        read = _accepted(way.server, answer)
        access, refresh = read.get("access_token"), read.get("refresh_token") or ""
        kind, scope = read.get("token_type", "bearer"), read.get("scope") or ""
        if not _is_text(access, _VISIBLE, MAX_OAUTH_TOKEN_CHARS):
            raise _garbled(way.server)
        if not isinstance(kind, str) or kind.lower() != "bearer":
            raise _garbled(way.server)
        if refresh and not _is_text(refresh, _SPOKEN, MAX_OAUTH_TOKEN_CHARS):
            raise _garbled(way.server)
        return TokenAnswer(
            access=access,
            refresh=refresh,
            seconds=_seconds(read.get("expires_in")),
            scope=scopes_in(scope) if isinstance(scope, str) else "",
        )

    def _post(
        self, way: OAuthWay, endpoint: str, form: Mapping[str, str], deadline: Deadline
    ) -> httpx2.Response:
        """Send a form, and say who we are as the client's method has it (RFC 6749 §2.3.1)."""
        client = way.client
        sent, headers = {**form}, dict[str, str]()
        if client.method == "client_secret_basic" and client.secret:
            pair = ":".join(quote(each, safe="") for each in (client.id, client.secret))
            headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            sent["client_id"] = client.id
            if client.secret:
                sent["client_secret"] = client.secret
        return self._calls.send(
            _led(way, deadline), endpoint, method="POST", form=sent, headers=headers
        )


def _led(way: OAuthWay, deadline: Deadline) -> Led:
    return Led(server=way.server, url=way.resource, deadline=deadline)


def _accepted(server: str, answer: httpx2.Response) -> dict[str, Any]:
    """Return the object of a good answer.

    Raises:
        OAuthRefusedError: It is a refusal.
        UnavailableError: It is neither.

    """
    read = object_of(answer)
    if answer.status_code in {_OK, _CREATED} and read is not None and "error" not in read:
        return read
    error: object = read.get("error") if read is not None else None
    if answer.status_code in {_OK, *_REFUSALS} and isinstance(error, str):
        raise OAuthRefusedError(server, error if _ERROR.fullmatch(error) else "oauth_unsaid")
    if answer.status_code in {_OK, _CREATED}:
        raise _garbled(server)
    raise UnavailableError(
        "mcp_server_unavailable",
        server=server,
        reason="mcp_http_status",
        status=answer.status_code,
    )


def _seconds(value: object) -> int | None:
    """Return how long a token is good; what says nothing usable says nothing."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # A whole number may be too large for a float.
    if isinstance(value, float) and math.isnan(value):
        return None
    return int(min(max(value, 0), MAX_OAUTH_TOKEN_SECONDS))


def _moment(value: object) -> datetime | None:
    """Return the moment of a number of seconds since 1970, None for 0 and what is no moment."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= _LAST_MOMENT:
        return None
    return datetime.fromtimestamp(value, UTC)


def _is_text(value: object, form: re.Pattern[str], most: int) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) <= most and bool(form.fullmatch(value))


def _garbled(server: str) -> UnavailableError:
    return UnavailableError(
        "mcp_server_unavailable", server=server, reason="oauth_garbled", status=0
    )
