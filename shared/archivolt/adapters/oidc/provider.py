"""An identity provider that speaks OpenID Connect: Cognito, Entra ID, Keycloak or another.

Its endpoints are read from its discovery document; its word is an ID token, which is verified as
every other token is, for our client id and the nonce of this one sign-in.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

import httpx2
import jwt
from jwt.exceptions import PyJWTError

from archivolt.adapters.http.documents import read_json
from archivolt.domain.errors import UnauthenticatedError, UnavailableError
from archivolt.domain.oauth import Person
from archivolt.ports.clock import Clock
from archivolt.ports.governance import TokenVerifier
from archivolt.ports.identity_provider import CodeAnswer

_DISCOVERY: Final = "/.well-known/openid-configuration"
_FRESH_FOR: Final = timedelta(hours=1)
_TRIED_AGAIN_AFTER: Final = timedelta(minutes=1)
_OK: Final = 200
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcClient:
    """As whom we sign people in; `secret` is "" for a public client."""

    issuer: str
    client_id: str
    secret: str = field(default="", repr=False)
    scopes: str = "openid"


class OidcProvider:
    """An `IdentityProvider`.

    Args:
        client: As whom we ask.
        http: Gives the guarded client for calls.
        id_tokens: Verifies tokens of the issuer for our client id.
        clock: The time.

    """

    def __init__(
        self,
        client: OidcClient,
        http: Callable[[], httpx2.Client],
        id_tokens: TokenVerifier,
        clock: Clock,
    ) -> None:
        self._client = client
        self._http = http
        self._id_tokens = id_tokens
        self._clock = clock
        self._lock = Lock()
        self._document: dict[str, Any] = {}
        self._fresh_until: datetime | None = None

    def sign_in_address(
        self, *, redirect_uri: str, state: str, nonce: str, challenge: str, again: bool
    ) -> str:
        """Return where a browser goes to sign in."""
        parameters = {
            "response_type": "code",
            "client_id": self._client.client_id,
            "redirect_uri": redirect_uri,
            "scope": self._client.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **({"prompt": "login"} if again else {}),
        }
        endpoint = self._endpoint("authorization_endpoint")
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"

    def person(self, answer: CodeAnswer) -> Person:
        """Return who signed in."""
        token = self._id_token(answer)
        principal = self._id_tokens.verify(token)
        self._require_for_us(token, answer.nonce)
        return Person(tenant=principal.tenant, user=principal.user, role=principal.role)

    def _id_token(self, answer: CodeAnswer) -> str:
        form = {
            "grant_type": "authorization_code",
            "code": answer.code,
            "redirect_uri": answer.redirect_uri,
            "code_verifier": answer.verifier,
            "client_id": self._client.client_id,
        }
        headers = {"accept": "application/json"}
        if self._client.secret and self._takes_basic():
            headers["authorization"] = self._basic()
        elif self._client.secret:
            form["client_secret"] = self._client.secret
        endpoint = self._endpoint("token_endpoint")
        try:
            response = self._http().post(endpoint, data=form, headers=headers)
            body: Any = response.json() if response.status_code == _OK else {}
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
            raise UnavailableError("unavailable") from error
        if response.status_code >= _SERVER_ERROR:
            raise UnavailableError("unavailable")
        token: object = cast("dict[str, Any]", body).get("id_token") if _is_object(body) else None
        if not isinstance(token, str):
            raise UnauthenticatedError("invalid_token")
        return token

    def _require_for_us(self, token: str, nonce: str) -> None:
        """Check what only an ID token has to say (OpenID Connect Core §3.1.3.7)."""
        try:
            claims = jwt.decode(token, options={"verify_signature": False})
        except PyJWTError as error:
            raise UnauthenticatedError("invalid_token") from error
        audience: Any = claims["aud"]
        alone = isinstance(audience, str) or len(audience) == 1
        is_ours = claims.get("azp", self._client.client_id) == self._client.client_id
        if claims.get("nonce") != nonce or not is_ours or not (alone or "azp" in claims):
            raise UnauthenticatedError("invalid_token")

    def _takes_basic(self) -> bool:
        methods: object = self._discovered().get("token_endpoint_auth_methods_supported")
        return not isinstance(methods, list) or "client_secret_basic" in methods

    def _basic(self) -> str:
        # RFC 6749 §2.3.1: each part is encoded as in a form before they are joined.
        parts = (quote(part, safe="") for part in (self._client.client_id, self._client.secret))
        return "Basic " + base64.b64encode(":".join(parts).encode()).decode()

    def _endpoint(self, name: str) -> str:
        endpoint: object = self._discovered().get(name)
        if not isinstance(endpoint, str) or not endpoint.startswith(("https://", "http://")):
            raise UnavailableError("unavailable")
        return endpoint

    def _discovered(self) -> dict[str, Any]:
        """Return the document; one that cannot be read again serves on meanwhile."""
        with self._lock:
            now = self._clock.now()
            if self._fresh_until is None or now > self._fresh_until:
                try:
                    self._document, self._fresh_until = self._read(), now + _FRESH_FOR
                except UnavailableError:
                    if self._fresh_until is None:
                        raise
                    self._fresh_until = now + _TRIED_AGAIN_AFTER
            return self._document

    def _read(self) -> dict[str, Any]:
        issuer = self._client.issuer
        document = read_json(self._http(), f"{issuer.rstrip('/')}{_DISCOVERY}")
        # OpenID Connect Discovery §4.3: another issuer's document is none of this one.
        if not _is_object(document) or document.get("issuer") != issuer:
            raise UnavailableError("unavailable")
        return document


def _is_object(value: object) -> bool:
    return isinstance(value, dict)
