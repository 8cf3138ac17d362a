"""Who lets people in to an MCP server: from its own word to the metadata of who it names.

RFC 9728 for the server, RFC 8414 or OpenID Connect Discovery for the authorization server; each
document is held to be about whom it was asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlsplit, urlunsplit

import httpx2

from archivolt.adapters.http.challenges import challenge_value, scopes_in
from archivolt.adapters.oauth_client.calls import Led, OAuthCalls, object_of
from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.federation_limits import MAX_CHALLENGE_CHARS
from archivolt.domain.mcp_accounts import AuthorizationServer, joined_scopes

_RESOURCE: Final = "/.well-known/oauth-protected-resource"
_SERVER: Final = "/.well-known/oauth-authorization-server"
_OPENID: Final = "/.well-known/openid-configuration"
_OK: Final = 200
_SERVER_ERROR: Final = 500
_OFFLINE: Final = "offline_access"
# Any server that asks for a token says so before it reads what is asked.
_KNOCK: Final = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resource:
    """What a server says of itself: who lets people in, to what, and as far as what."""

    issuer: str
    resource: str
    scopes: str


class Discovery:
    """Finds the authorization server of an MCP server."""

    def __init__(self, calls: OAuthCalls, led: Led) -> None:
        self._calls = calls
        self._led = led
        self._url = led.url

    def found(self) -> AuthorizationServer:
        """Return who lets people in; see the port."""
        header = self._challenge()
        resource = self._resource(challenge_value(header, "resource_metadata"))
        metadata = self._metadata(resource.issuer)
        if "S256" not in _texts(metadata.get("code_challenge_methods_supported")):
            raise self._unusable("oauth_pkce")
        known = _texts(metadata.get("scopes_supported"))
        scope = scopes_in(challenge_value(header, "scope")) or resource.scopes
        if scope and _OFFLINE in known:
            scope = joined_scopes(scope, _OFFLINE)

        def named(name: str, *, needed: bool = False) -> str:
            given = metadata.get(name)
            if not given and not needed:
                return ""
            return self._address(given)

        return AuthorizationServer(
            # As it names itself, which answers are compared with to the letter (RFC 9207).
            issuer=metadata["issuer"],
            resource=resource.resource,
            authorization_endpoint=named("authorization_endpoint", needed=True),
            token_endpoint=named("token_endpoint", needed=True),
            registration_endpoint=named("registration_endpoint"),
            revocation_endpoint=named("revocation_endpoint"),
            scope=scope,
            says_issuer=metadata.get("authorization_response_iss_parameter_supported") is True,
            reads_documents=metadata.get("client_id_metadata_document_supported") is True,
            auth_methods=_texts(metadata.get("token_endpoint_auth_methods_supported")),
        )

    def _challenge(self) -> str:
        """Return what a server answers to somebody without a token."""
        accept = {"accept": "application/json, text/event-stream"}
        answer = self._calls.send(self._led, self._url, method="POST", json=_KNOCK, headers=accept)
        return answer.headers.get("www-authenticate", "")[:MAX_CHALLENGE_CHARS]

    def _resource(self, named: str) -> _Resource:
        # One that the server itself names is the one, and no other is looked for.
        places = [self._address(named)] if named else _resource_places(self._url)
        for place in places:
            read = _found(self._asked(place))
            if read is not None:
                return self._read_resource(read)
        if named:
            raise self._unusable("oauth_garbled")
        # Of before RFC 9728: the server is its own authorization server (MCP 2025-03-26).
        return _Resource(issuer=_origin(self._url), resource=self._url, scopes="")

    def _read_resource(self, read: dict[str, Any]) -> _Resource:
        resource: object = read.get("resource")
        if not isinstance(resource, str) or not _covers(resource, self._url):
            raise self._unusable("oauth_resource")
        issuers = _texts(read.get("authorization_servers"))
        if not issuers:
            raise self._unusable("oauth_absent")
        scopes = scopes_in(" ".join(_texts(read.get("scopes_supported"))))
        issuer = self._address(issuers[0])
        return _Resource(issuer=issuer, resource=self._address(resource), scopes=scopes)

    def _metadata(self, issuer: str) -> dict[str, Any]:
        """Return the metadata of an issuer, under the very name by which it was asked for.

        Raises:
            ConflictError: `mcp_sign_in_unusable`.

        """
        for place in _metadata_places(issuer):
            answer = self._asked(place)
            if answer.status_code >= _SERVER_ERROR:
                raise UnavailableError(
                    "mcp_server_unavailable",
                    server=self._led.server,
                    reason="mcp_http_status",
                    status=answer.status_code,
                )
            read = _found(answer)
            if read is None:
                continue
            if not _is_same(read.get("issuer"), issuer):
                raise self._unusable("oauth_issuer")
            return read
        raise self._unusable("oauth_absent")

    def _asked(self, place: str) -> httpx2.Response:
        return self._calls.send(self._led, place)

    def _address(self, value: object) -> str:
        return self._calls.address(self._led, value)

    def _unusable(self, reason: str) -> ConflictError:
        return ConflictError("mcp_sign_in_unusable", server=self._led.server, reason=reason)


def _found(answer: httpx2.Response) -> dict[str, Any] | None:
    return object_of(answer) if answer.status_code == _OK else None


def _resource_places(url: str) -> Iterator[str]:
    path = urlsplit(url).path.rstrip("/")
    if path:
        yield f"{_origin(url)}{_RESOURCE}{path}"
    yield f"{_origin(url)}{_RESOURCE}"


def _metadata_places(issuer: str) -> Iterator[str]:
    path = urlsplit(issuer).path.rstrip("/")
    yield f"{_origin(issuer)}{_SERVER}{path}"
    yield f"{_origin(issuer)}{_OPENID}{path}"
    if path:
        yield f"{_origin(issuer)}{path}{_OPENID}"


def _covers(resource: str, url: str) -> bool:
    """Tell whether a resource is a server's address, or a place that it is in."""
    try:
        theirs, ours = urlsplit(resource), urlsplit(url)
        named = (theirs.scheme, theirs.hostname, theirs.port)
        same = named == (ours.scheme, ours.hostname, ours.port)
    except ValueError:
        return False
    inside = f"{ours.path.rstrip('/')}/".startswith(f"{theirs.path.rstrip('/')}/")
    return same and inside and not theirs.fragment and not theirs.query and not theirs.username


def _is_same(told: object, issuer: str) -> bool:
    """Compare to the letter (RFC 8414 §3.3), but for the final slash of a bare host."""
    if not isinstance(told, str):
        return False
    bare = urlsplit(issuer).path in {"", "/"}
    return told == issuer or (bare and told.rstrip("/") == issuer.rstrip("/"))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, "", "", ""))


def _texts(value: object) -> tuple[str, ...]:
    listed = cast("Sequence[object]", value) if isinstance(value, list) else ()
    return tuple(each for each in listed if isinstance(each, str))
