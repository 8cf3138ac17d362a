"""Tokens that are none of ours, or no longer: refused at every door, and the same everywhere."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, cast

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from starlette.testclient import TestClient

from archivolt.adapters.jwt.jwks import JwksKeys
from archivolt.adapters.jwt.verifier import JwtVerifier, TokenRules
from archivolt.domain.identity import FULL_REACH
from archivolt.entrypoints.events.authorizer import RefusedError, build_authorizer
from archivolt.entrypoints.http.tools_app import create_tools_app
from archivolt.governance.oauth.tokens import OAuthTokens
from archivolt.governance.personal_tokens import PersonalTokens, WantedToken
from archivolt.governance.token_verifiers import PersonalTokenVerifier, TokenVerifiers
from tests.builders import principal
from tests.chat_world import ChatWorld
from tests.entrypoints.mcp_messages import legacy
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_api import EVENTS
from tests.entrypoints.rest_world import rest_services
from tests.entrypoints.test_chat_http import chat_application
from tests.fakes.clock import START, FrozenClock
from tests.fakes.oauth import InMemoryOAuthGrants
from tests.fakes.personal_tokens import InMemoryPersonalTokens
from tests.fakes.tenancy import InMemoryTenants
from tests.oauth import OAuthWorld
from tests.world import World

ISSUER, AUDIENCE, KEY_ID = "https://id.example", "archivolt", "key-1"
RULES = TokenRules(
    issuer=ISSUER,
    audience=AUDIENCE,
    mcp_audience="https://archivolt.example/mcp",
    tenant_claim="tenant",
    role_claim="role",
)
NOW = int(START.timestamp())
GOOD: Mapping[str, Any] = {
    "iss": ISSUER,
    "aud": AUDIENCE,
    "sub": "alice",
    "exp": NOW + 600,
    "iat": NOW,
    "tenant": "acme",
    "role": "cpi-admin",
}

Door = Callable[[str], tuple[int, str]]
OPEN = (200, "")
SHUT = (401, "invalid_token")


@cache
def provider_key() -> rsa.RSAPrivateKey:
    """The identity provider's key; another is nobody's."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def strangers_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def signed(key: rsa.RSAPrivateKey | None = None, **changes: object) -> str:
    """Return a token with some claims changed; `...` leaves one out."""
    claims = {name: value for name, value in {**GOOD, **changes}.items() if value is not ...}
    return jwt.encode(claims, key or provider_key(), algorithm="RS256", headers={"kid": KEY_ID})


def by_hand(header: Mapping[str, object], signature: Callable[[bytes], bytes]) -> str:
    """Return a token that no library would make."""
    parts = [_part({"typ": "JWT", "kid": KEY_ID, **header}), _part(GOOD)]
    return b".".join([*parts, _encoded(signature(b".".join(parts)))]).decode()


def _part(content: Mapping[str, object]) -> bytes:
    return _encoded(json.dumps(content).encode())


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _public_pem() -> bytes:
    return (
        provider_key()
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def _published_form(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    return json.loads(RSAAlgorithm.to_jwk(key.public_key()))


def _hs256(message: bytes) -> bytes:
    return hmac.digest(_public_pem(), message, hashlib.sha256)


FORGED: Mapping[str, Callable[[], str]] = {
    "another issuer": lambda: signed(iss="https://id.example.evil.example"),
    "no issuer": lambda: signed(iss=...),
    "another audience": lambda: signed(aud="another-product"),
    "no audience": lambda: signed(aud=...),
    "expired": lambda: signed(exp=NOW - 31),
    "without end": lambda: signed(exp=...),
    "not yet valid": lambda: signed(nbf=NOW + 31),
    "another key": lambda: signed(strangers_key()),
    "unsigned": lambda: by_hand({"alg": "none"}, lambda _: b""),
    "unsigned, spelled otherwise": lambda: by_hand({"alg": "nOnE"}, lambda _: b""),
    "the public key as a secret": lambda: by_hand({"alg": "HS256"}, _hs256),
    "a key of its own in the header": lambda: jwt.encode(
        dict(GOOD),
        strangers_key(),
        algorithm="RS256",
        headers={
            "kid": KEY_ID,
            "jwk": json.loads(RSAAlgorithm.to_jwk(strangers_key().public_key())),
        },
    ),
    "another algorithm of the same key": lambda: jwt.encode(
        dict(GOOD), provider_key(), algorithm="PS256", headers={"kid": KEY_ID}
    ),
    "a made-up personal token": lambda: "avp_" + "a" * 64,
    "a made-up access token": lambda: "avo_" + "a" * 64,
    "no token at all": lambda: "x",
}


class Doors:
    """Every door, in front of the verifiers of the product."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.personal = InMemoryPersonalTokens()
        self.grants = InMemoryOAuthGrants()
        keys = JwksKeys(self._published, self.clock)
        programs = PersonalTokenVerifier(self.personal, self.clock)
        self.verifier = TokenVerifiers(
            lambda: JwtVerifier(keys, RULES, self.clock),
            personal=lambda: programs,
            granted=lambda: OAuthTokens(self.grants, self.clock),
        )
        world = World()
        self._rest = TestClient(create_tools_app(lambda: rest_services(world, self.verifier)))
        self._chat = TestClient(chat_application(ChatWorld(), self.verifier))
        self._mcp = McpWorld()
        self._mcp.tokens = cast("Any", self.verifier)
        self._authorizer = build_authorizer(lambda: self.verifier)

    def _published(self) -> object:
        key = _published_form(provider_key())
        return {"keys": [{**key, "kid": KEY_ID, "alg": "RS256", "use": "sig"}]}

    def rest(self, token: str) -> tuple[int, str]:
        return self._told(self._rest, "/api/v1/vaults", token)

    def chat(self, token: str) -> tuple[int, str]:
        return self._told(self._chat, "/api/v1/chat/conversations", token)

    def mcp(self, token: str) -> tuple[int, str]:
        answer = self._mcp.send(legacy("ping"), token=token)
        return answer.status, "" if answer.status == 200 else answer.json["error"]["code"]

    def front_door(self, token: str) -> tuple[int, str]:
        event = json.loads((EVENTS / "rest_api_authorizer_request.json").read_text())
        event["headers"] = {"Authorization": f"Bearer {token}"}
        try:
            self._authorizer(event, None)
        except RefusedError:
            return SHUT
        return OPEN

    def _told(self, http: TestClient, path: str, token: str) -> tuple[int, str]:
        answer = http.get(path, headers={"Authorization": f"Bearer {token}"})
        if answer.status_code == 401:
            assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token"')
        return answer.status_code, "" if answer.is_success else answer.json()["error"]["code"]

    def __iter__(self) -> Iterator[Door]:
        return iter((self.rest, self.chat, self.mcp, self.front_door))


@pytest.fixture(scope="module")
def doors() -> Doors:
    return Doors()


def test_a_token_of_the_provider_opens_every_door(doors: Doors) -> None:
    assert [door(signed()) for door in doors] == [OPEN] * 4


@pytest.mark.parametrize("how", FORGED)
def test_a_token_that_is_none_opens_no_door(doors: Doors, how: str) -> None:
    token = FORGED[how]()

    assert [door(token) for door in doors] == [SHUT] * 4


def test_a_revoked_personal_token_opens_no_door_again(doors: Doors) -> None:
    tokens = PersonalTokens(lambda: doors.personal, doors.clock, InMemoryTenants())
    wanted = WantedToken(name="laptop", reach=FULL_REACH, days=9)
    kept, text = tokens.create(principal(), wanted)
    programs = [doors.rest, doors.mcp, doors.front_door]
    assert [door(text) for door in programs] == [OPEN] * 3
    assert doors.chat(text) == (403, "person_required")

    tokens.revoke(principal(), kept.id)

    assert [door(text) for door in doors] == [SHUT] * 4


def test_the_tokens_of_a_grant_that_was_ended_open_no_door_again(doors: Doors) -> None:
    oauth = OAuthWorld(doors.clock, doors.grants)
    pair = oauth.pair()
    programs = [doors.rest, doors.mcp, doors.front_door]
    assert [door(pair.access) for door in programs] == [OPEN] * 3

    oauth.tokens.revoke(pair.refresh, oauth.client.id)

    assert [door(pair.access) for door in doors] == [SHUT] * 4
    assert [door(pair.refresh) for door in doors] == [SHUT] * 4
