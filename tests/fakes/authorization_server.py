"""An MCP server that asks for a sign-in, and who lets people in to it, behind the HTTP client.

What a test changes: the documents, and what is answered in place of tokens.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import httpx2

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.oauth_client.calls import OAuthCalls
from archivolt.adapters.oauth_client.servers import HttpAuthorizationServers

SERVER = "https://mcp.test/mcp"
ISSUER = "https://login.test/acme"
SECRET = "a secret/of the+test"


@dataclass
class AuthorizationScript:
    """`resource`, `metadata`, `client` and `token` change the usual documents; None: no field.

    `answers` take the place of what an address answers. `seconds` is how long a token lasts, None
    for what is not said. `waits` are the timeouts of the requests.
    """

    challenge: str = "Bearer"
    resource: dict[str, Any] | None = field(default_factory=dict[str, Any])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    client: dict[str, Any] = field(default_factory=dict[str, Any])
    token: dict[str, Any] = field(default_factory=dict[str, Any])
    answers: dict[str, httpx2.Response | Exception] = field(
        default_factory=dict[str, httpx2.Response | Exception]
    )
    seconds: int | None = 3600
    rotates: bool = True
    asked: list[str] = field(default_factory=list[str])
    forms: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    registered: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    credentials: list[str] = field(default_factory=list[str])
    revoked: list[str] = field(default_factory=list[str])
    before_tokens: Callable[[], object] = lambda: None
    before_answers: Callable[[], object] = lambda: None
    waits: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    _codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    good_refresh: set[str] = field(default_factory=set[str])

    def servers(self, rules: OutboundRules | None = None) -> HttpAuthorizationServers:
        """Return the adapter in front of it; `rules` as the deployment's."""
        return HttpAuthorizationServers(OAuthCalls(rules or OutboundRules(), self._client))

    def signs_in(self, address: str, **changed: str) -> dict[str, str]:
        """Return what a browser brings back that signed in at `address`."""
        assert address.startswith("https://login.test/authorize?")
        asked = dict(parse_qsl(urlsplit(address).query))
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        assert asked["resource"] == self.document(SERVER)["resource"]
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": ISSUER, **changed}

    def document(self, url: str) -> dict[str, Any]:
        """Return what the server says of itself."""
        usual = {"resource": url, "authorization_servers": [ISSUER], "scopes_supported": ["read"]}
        return _changed(usual, self.resource or {})

    def _client(self, _: OutboundRules) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        parts = urlsplit(str(request.url))
        address = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self.asked.append(address)
        self.waits.append(request.extensions["timeout"])
        self.before_answers()
        scripted = self.answers.get(address)
        if isinstance(scripted, Exception):
            raise scripted
        if scripted is not None:
            return httpx2.Response(
                scripted.status_code, headers=scripted.headers, content=scripted.content
            )
        if address == SERVER:
            return httpx2.Response(401, headers={"WWW-Authenticate": self.challenge})
        known: dict[str, Callable[[httpx2.Request], httpx2.Response]] = {
            "https://mcp.test/.well-known/oauth-protected-resource/mcp": self._resource,
            "https://login.test/.well-known/oauth-authorization-server/acme": self._metadata,
            "https://login.test/register": self._registers,
            "https://login.test/token": self._tokens,
            "https://login.test/revoke": self._revokes,
        }
        answer = known.get(address)
        return answer(request) if answer else httpx2.Response(404)

    def _resource(self, _: httpx2.Request) -> httpx2.Response:
        if self.resource is None:
            return httpx2.Response(404)
        return httpx2.Response(200, json=self.document(SERVER))

    def described(self) -> dict[str, Any]:
        """Return the metadata of who lets people in."""
        usual = {
            "issuer": ISSUER,
            "authorization_endpoint": "https://login.test/authorize",
            "token_endpoint": "https://login.test/token",
            "registration_endpoint": "https://login.test/register",
            "revocation_endpoint": "https://login.test/revoke",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        return _changed(usual, self.metadata)

    def _metadata(self, _: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=self.described())

    def _registers(self, request: httpx2.Request) -> httpx2.Response:
        wished = json.loads(request.content)
        self.registered.append(wished)
        usual = {**wished, "client_id": f"client-{len(self.registered)}"}
        return httpx2.Response(201, json=_changed(usual, self.client))

    def _tokens(self, request: httpx2.Request) -> httpx2.Response:
        form = dict(parse_qsl(request.content.decode()))
        self.forms.append(form)
        count = str(len(self.forms))
        self.credentials.append(_credentials(request, form))
        self.before_tokens()
        refused = httpx2.Response(400, json={"error": "invalid_grant"})
        if form["grant_type"] == "authorization_code":
            asked = self._codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if asked is None or asked["code_challenge"] != challenge:
                return refused
            if asked["redirect_uri"] != form["redirect_uri"]:
                return refused
        elif form["refresh_token"] not in self.good_refresh:
            return refused
        elif self.rotates:
            # Once used it is no good, and neither is what came of it: as OAuth 2.1 wants it.
            self.good_refresh.discard(form["refresh_token"])
        refresh = f"refresh-{count}"
        self.good_refresh.add(refresh)
        usual: dict[str, Any] = {
            "access_token": f"access-{count}",
            "token_type": "Bearer",
            "expires_in": self.seconds,
            "refresh_token": refresh,
        }
        return httpx2.Response(200, json=_changed(usual, self.token))

    def _revokes(self, request: httpx2.Request) -> httpx2.Response:
        form = dict(parse_qsl(request.content.decode()))
        self.revoked.append(form["token"])
        return httpx2.Response(200)


def callback_query(answer: dict[str, str]) -> str:
    """Return the query with which a browser comes back."""
    return urlencode(answer)


def _credentials(request: httpx2.Request, form: dict[str, str]) -> str:
    header = request.headers.get("authorization", "")
    if header.startswith("Basic "):
        pair = base64.b64decode(header.removeprefix("Basic ")).decode()
        return "basic " + ":".join(unquote(each) for each in pair.split(":"))
    return f"post {form['client_id']}:{form.get('client_secret', '')}"


def _changed(usual: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in (usual | changed).items() if value is not None}
