"""Which tokens speak for somebody, and for whom."""

import base64
import hmac
import json
from functools import cache
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from archivolt.adapters.jwt.jwks import JwksKeys
from archivolt.adapters.jwt.keys import LocalKey
from archivolt.adapters.jwt.verifier import JwtVerifier, TokenRules
from archivolt.domain.errors import UnauthenticatedError, UnavailableError
from archivolt.domain.identity import Role, TokenKind
from tests.fakes.clock import START, FrozenClock

KEY = "a key of the local stack, long enough for the longer hashes that are refused too"
MCP = "https://archivolt.example/mcp"
RULES = TokenRules(
    issuer="https://id.example",
    audience="archivolt",
    mcp_audience=MCP,
    tenant_claim="org",
    role_claim="org_role",
)
NOW = int(START.timestamp())

Claims = dict[str, Any]


def claims(**changes: object) -> Claims:
    """Return good claims with some changed; `...` leaves one out."""
    good: Claims = {
        "iss": RULES.issuer,
        "aud": "archivolt",
        "sub": "auth0|alice",
        "exp": NOW + 600,
        "iat": NOW,
        "org": "acme",
        "org_role": "devops",
    }
    return {name: value for name, value in (good | changes).items() if value is not ...}


def local_token(content: Claims, *, key: str = KEY, algorithm: str = "HS256", **header: str) -> str:
    return jwt.encode(content, key, algorithm=algorithm, headers=header)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def verifier(clock: FrozenClock) -> JwtVerifier:
    return JwtVerifier(LocalKey(KEY), RULES, clock)


def refusal(verifier: JwtVerifier, token: str) -> str:
    with pytest.raises(UnauthenticatedError) as refused:
        verifier.verify(token)
    return refused.value.code


def test_a_good_token_speaks_for_its_subject(verifier: JwtVerifier) -> None:
    principal = verifier.verify(local_token(claims()))

    assert (principal.tenant, principal.user) == ("acme", "auth0|alice")
    assert (principal.role, principal.kind) == (Role.DEVOPS, TokenKind.INTERACTIVE)


def test_tokens_are_told_apart_without_being_revealed(verifier: JwtVerifier) -> None:
    tokens = [local_token(claims(jti=name)) for name in ("a", "b")]
    ids = {verifier.verify(token).token_id for token in tokens}

    assert len(ids) == 2
    assert verifier.verify(tokens[0]).token_id in ids
    assert not any(token_id in "".join(tokens) for token_id in ids)


@pytest.mark.parametrize("spelled", ["{}=", "{}==", "{}!", "{} ", "{}\n"])
def test_a_token_spelled_otherwise_is_refused_or_the_same_token(
    verifier: JwtVerifier, spelled: str
) -> None:
    token = local_token(claims())
    try:
        found = verifier.verify(spelled.format(token)).token_id
    except UnauthenticatedError:
        return

    assert found == verifier.verify(token).token_id


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.example"},
        {"iss": ...},
        {"aud": "another-api"},
        {"aud": ["another-api", "archivolt-admin"]},
        {"aud": []},
        {"aud": ...},
        {"sub": ...},
        {"sub": ""},
        {"sub": "two words"},
        {"sub": "a/b"},
        {"sub": "a#b"},
        {"sub": "a" * 129},
        {"sub": "half-a-pair-\ud800"},
        {"org": ...},
        {"org": ""},
        {"org": "../acme"},
        {"org": ["acme"]},
        {"org_role": "root"},
        {"org_role": 4},
        {"exp": ...},
        {"exp": NOW - 31},
        {"exp": "tomorrow"},
        {"exp": True},
        {"exp": None},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": 10**400},
        {"nbf": NOW + 31},
        {"nbf": "now"},
        {"nbf": float("nan")},
    ],
)
def test_a_token_that_says_anything_else_is_refused(
    verifier: JwtVerifier, changes: dict[str, object]
) -> None:
    assert refusal(verifier, local_token(claims(**changes))) == "invalid_token"


@pytest.mark.parametrize("changes", [{"exp": NOW - 29}, {"nbf": NOW + 29}, {"exp": NOW + 0.5}])
def test_clocks_may_differ_a_little(verifier: JwtVerifier, changes: dict[str, object]) -> None:
    assert verifier.verify(local_token(claims(**changes))).tenant == "acme"


def test_a_token_expires_by_our_clock(verifier: JwtVerifier, clock: FrozenClock) -> None:
    token = local_token(claims())
    clock.advance(seconds=629)
    assert verifier.verify(token).tenant == "acme"

    clock.advance(seconds=1)

    assert refusal(verifier, token) == "invalid_token"


@pytest.mark.parametrize(
    ("role", "meant"),
    [
        (..., Role.VIEWER),
        ("cpi-admin", Role.CPI_ADMIN),
        ([], Role.VIEWER),
        (["sales", "devops", "viewer"], Role.DEVOPS),
        (["tenant-admin", 3, None], Role.TENANT_ADMIN),
    ],
)
def test_the_role_is_the_one_the_token_gives(
    verifier: JwtVerifier, role: object, meant: Role
) -> None:
    assert verifier.verify(local_token(claims(org_role=role))).role is meant


@pytest.mark.parametrize(
    ("audience", "kind"),
    [
        (MCP, TokenKind.MCP),
        ([MCP], TokenKind.MCP),
        ([MCP, "another-api"], TokenKind.MCP),
        (["archivolt", MCP], TokenKind.INTERACTIVE),
    ],
)
def test_a_token_for_agents_alone_is_known_as_one(
    verifier: JwtVerifier, audience: object, kind: TokenKind
) -> None:
    assert verifier.verify(local_token(claims(aud=audience))).kind is kind


@pytest.mark.parametrize(
    "token",
    [
        "",
        "alice",
        "a.b.c",
        "..",
        "é.é.é",
        "x" * 9_000,
        local_token(claims(), key=KEY + "!"),
        local_token(claims(), algorithm="HS512"),
        local_token(claims(), kid="another"),
    ],
)
def test_what_is_not_signed_with_the_key_is_refused(verifier: JwtVerifier, token: str) -> None:
    assert refusal(verifier, token) == "invalid_token"


def segment(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", ""])
def test_an_unsigned_token_is_refused(verifier: JwtVerifier, algorithm: str) -> None:
    unsigned = f"{segment({'alg': algorithm, 'typ': 'JWT'})}.{segment(claims())}."

    assert refusal(verifier, unsigned) == "invalid_token"


def test_a_changed_token_is_refused(verifier: JwtVerifier) -> None:
    head, _, signature = local_token(claims()).split(".")

    assert (
        refusal(verifier, f"{head}.{segment(claims(org='globex'))}.{signature}") == "invalid_token"
    )


def test_a_header_that_must_be_understood_and_is_not_is_refused(verifier: JwtVerifier) -> None:
    token = jwt.encode(claims(), KEY, algorithm="HS256", headers={"crit": ["x"], "x": 1})

    assert refusal(verifier, token) == "invalid_token"


def test_a_short_local_key_is_refused() -> None:
    with pytest.raises(ValueError, match="AUTH_LOCAL_KEY"):
        LocalKey("short")


@cache
def rsa_key(name: str, bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


def jwk(name: str, *, bits: int = 2048, **changes: object) -> Claims:
    public = rsa_key(name, bits).public_key()
    entry: Claims = RSAAlgorithm.to_jwk(public, as_dict=True)
    return entry | {"kid": name, "use": "sig", "alg": "RS256"} | changes


def rsa_token(content: Claims, name: str, *, bits: int = 2048, kid: str | None = "same") -> str:
    header = {} if kid is None else {"kid": name if kid == "same" else kid}
    return jwt.encode(content, rsa_key(name, bits), algorithm="RS256", headers=header)


class Provider:
    """An identity provider whose keys change and that may be down."""

    def __init__(self, *keys: Claims) -> None:
        self.document: Any = {"keys": list(keys)}
        self.down = False
        self.reads = 0

    def read(self) -> Any:  # noqa: ANN401
        self.reads += 1
        if self.down:
            raise UnavailableError("unavailable")
        return self.document


def verifier_of(provider: Provider, clock: FrozenClock) -> JwtVerifier:
    return JwtVerifier(JwksKeys(provider.read, clock), RULES, clock)


def test_a_providers_token_is_verified_with_its_published_key(clock: FrozenClock) -> None:
    provider = Provider(jwk("first"), jwk("second"))
    verifier = verifier_of(provider, clock)

    for name in ("second", "first", "second"):
        assert verifier.verify(rsa_token(claims(), name)).tenant == "acme"
    assert provider.reads == 1


def test_a_token_without_a_key_id_needs_the_set_to_have_one_key(clock: FrozenClock) -> None:
    token = rsa_token(claims(), "first", kid=None)

    assert verifier_of(Provider(jwk("first")), clock).verify(token).tenant == "acme"
    two_keys = verifier_of(Provider(jwk("first"), jwk("second")), clock)
    assert refusal(two_keys, token) == "invalid_token"


def test_a_token_signed_with_another_key_than_it_names_is_refused(clock: FrozenClock) -> None:
    verifier = verifier_of(Provider(jwk("first"), jwk("second")), clock)

    assert refusal(verifier, rsa_token(claims(), "first", kid="second")) == "invalid_token"


def test_a_public_key_is_no_shared_secret(clock: FrozenClock) -> None:
    """A token made with HS256 and the published key as its secret (RFC 8725 §2.1)."""
    public = rsa_key("first").public_key()
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    head = {"alg": "HS256", "typ": "JWT", "kid": "first"}
    signing_input = f"{segment(head)}.{segment(claims())}"
    signature = hmac.digest(pem, signing_input.encode(), "sha256")
    forged = f"{signing_input}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"

    assert refusal(verifier_of(Provider(jwk("first")), clock), forged) == "invalid_token"


def test_a_new_key_is_fetched_when_a_token_names_it(clock: FrozenClock) -> None:
    provider = Provider(jwk("first"))
    verifier = verifier_of(provider, clock)
    verifier.verify(rsa_token(claims(), "first"))
    provider.document = {"keys": [jwk("second")]}
    clock.advance(seconds=31)

    assert verifier.verify(rsa_token(claims(), "second")).tenant == "acme"
    assert refusal(verifier, rsa_token(claims(), "first")) == "invalid_token"


def test_strangers_cannot_make_the_keys_be_read_all_the_time(clock: FrozenClock) -> None:
    provider = Provider(jwk("first"))
    verifier = verifier_of(provider, clock)
    verifier.verify(rsa_token(claims(), "first"))

    for number in range(20):
        clock.advance(seconds=1)
        assert refusal(verifier, rsa_token(claims(), "first", kid=f"made-up-{number}"))

    assert provider.reads == 1


def test_a_withdrawn_key_is_refused_after_ten_minutes(clock: FrozenClock) -> None:
    provider = Provider(jwk("first"), jwk("second"))
    verifier = verifier_of(provider, clock)
    token = rsa_token(claims(exp=NOW + 6_000), "first")
    verifier.verify(token)
    provider.document = {"keys": [jwk("second")]}

    clock.advance(minutes=10, seconds=1)

    assert refusal(verifier, token) == "invalid_token"


def test_known_keys_are_used_while_the_provider_is_down(clock: FrozenClock) -> None:
    provider = Provider(jwk("first"))
    verifier = verifier_of(provider, clock)
    token = rsa_token(claims(exp=NOW + 60_000), "first")
    verifier.verify(token)
    provider.down = True
    clock.advance(hours=2)

    assert verifier.verify(token).tenant == "acme"
    assert verifier.verify(token).tenant == "acme"
    assert provider.reads == 2


@pytest.mark.parametrize("document", [None, [], "text", {}, {"keys": 3}, {"keys": None}])
def test_without_keys_nobody_is_refused_for_good(clock: FrozenClock, document: object) -> None:
    provider = Provider()
    provider.document = document
    verifier = verifier_of(provider, clock)

    for _ in range(2):
        with pytest.raises(UnavailableError):
            verifier.verify(rsa_token(claims(), "first"))
    assert provider.reads == 1

    provider.document = {"keys": [jwk("first")]}
    clock.advance(seconds=31)
    assert verifier.verify(rsa_token(claims(), "first")).tenant == "acme"


@pytest.mark.parametrize(
    "odd",
    [
        jwk("first", use="enc"),
        jwk("first", alg="RS512"),
        jwk("first", n="AQAB"),
        jwk("first", n=3),
        {"kty": "RSA", "kid": "first"},
        {"kty": "oct", "kid": "first", "k": "c2VjcmV0"},
        {"kid": "first"},
        "text",
        None,
    ],
)
def test_a_key_that_is_not_for_us_is_passed_over(clock: FrozenClock, odd: Any) -> None:  # noqa: ANN401
    verifier = verifier_of(Provider(odd, jwk("second")), clock)

    assert verifier.verify(rsa_token(claims(), "second")).tenant == "acme"
    assert refusal(verifier, rsa_token(claims(), "first")) == "invalid_token"


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_a_weak_key_is_passed_over(clock: FrozenClock) -> None:
    verifier = verifier_of(Provider(jwk("weak", bits=1024), jwk("second")), clock)

    assert refusal(verifier, rsa_token(claims(), "weak", bits=1024)) == "invalid_token"
