"""An identity provider over HTTP: discovery, keys, sign-in and tokens, with PKCE and a nonce."""

import base64
import hashlib
import json
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.fakes.clock import START

CLIENT_ID = "archivolt-web"
SECRET = "a secret/of the+test"
_NOW = int(START.timestamp())


@cache
def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@dataclass
class IdentityServer:
    """Who signs in, and what a test changes. `claims` replace those of the ID token, `token_body`
    the whole answer with it."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    token_status: int = 200
    token_body: bytes = b""
    paths: list[str] = field(default_factory=list[str])
    asked: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    credentials: list[str] = field(default_factory=list[str])

    def discovery(self) -> dict[str, Any]:
        """Return the discovery document."""
        usual = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
        }
        return usual | self.document

    def signs_in(self, address: str) -> str:
        """Return where the provider sends a browser that signed in at `address`."""
        parameters = dict(parse_qsl(urlsplit(address).query))
        assert parameters["response_type"] == "code"
        assert parameters["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.asked[code] = parameters
        answer = {"code": code, "state": parameters["state"]}
        return f"{parameters['redirect_uri']}?{urlencode(answer)}"

    def token(self, form: Mapping[str, str], authorization: str) -> dict[str, Any] | None:
        """Return the tokens for a code, once; None for a code or a client that is not good."""
        asked = self.asked.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        self.credentials.append(authorization or form.get("client_secret", ""))
        if asked is None or asked["code_challenge"] != challenge or not self._knows(authorization):
            return None
        if form["redirect_uri"] != asked["redirect_uri"]:
            return None
        claims = {
            "iss": self.url,
            "aud": asked["client_id"],
            "sub": "carol",
            "exp": _NOW + 600,
            "nonce": asked["nonce"],
            "tenant": "acme",
            "role": "devops",
            **self.claims,
        }
        kept = {name: value for name, value in claims.items() if value is not ...}
        return {"id_token": jwt.encode(kept, _key(), "RS256", headers={"kid": "k1"})}

    def _knows(self, authorization: str) -> bool:
        if not authorization:
            return True
        decoded = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        name, _, secret = decoded.partition(":")
        return (unquote(name), unquote(secret)) == (CLIENT_ID, SECRET)


@contextmanager
def identity_server() -> Generator[IdentityServer, None, None]:
    """Serve on the loopback until the block ends."""
    provider = IdentityServer()
    public = json.loads(RSAAlgorithm.to_jwk(_key().public_key())) | {"kid": "k1", "use": "sig"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.paths.append(self.path)
            known = {
                "/.well-known/openid-configuration": provider.discovery(),
                "/jwks": {"keys": [public]},
            }
            self._say(200 if self.path in known else 404, known.get(self.path, {}))

        def do_POST(self) -> None:
            provider.paths.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            given = provider.token(dict(parse_qsl(body)), self.headers.get("Authorization", ""))
            status = provider.token_status if given else 400
            told = json.dumps(given or {"error": "invalid_grant"}).encode()
            self._send(status, provider.token_body or told)

        def _say(self, status: int, content: object) -> None:
            self._send(status, json.dumps(content).encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
