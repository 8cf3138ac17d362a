"""From a bearer token to a principal (O70, R6): signature, issuer, audience, time, then claims."""

import hashlib
import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import jwt
from jwt.exceptions import PyJWTError
from jwt.types import Options

from archivolt.adapters.jwt.keys import KeySource
from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Principal, Role, TokenKind, tenant_id, user_id
from archivolt.ports.clock import Clock

_LEEWAY: Final = timedelta(seconds=30)
_MAX_TOKEN_CHARS: Final = 8_192
_TOKEN_ID_CHARS: Final = 32

# Time is checked below, by the Clock.
_OPTIONS: Final[Options] = {
    "require": ["iss", "aud", "sub", "exp"],
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRules:
    """What a token has to say.

    `mcp_audience` is the audience of tokens for agents; a token with no other audience of ours is
    one. `tenant_claim` and `role_claim` name the claims that hold tenant and role.
    """

    issuer: str
    audience: str
    mcp_audience: str
    tenant_claim: str
    role_claim: str


class JwtVerifier:
    """A `TokenVerifier` of JSON Web Tokens."""

    def __init__(self, keys: KeySource, rules: TokenRules, clock: Clock) -> None:
        self._keys = keys
        self._rules = rules
        self._clock = clock

    def verify(self, token: str) -> Principal:
        """Return who the token speaks for."""
        if len(token) > _MAX_TOKEN_CHARS:
            raise UnauthenticatedError("invalid_token")
        try:
            claims = self._claims(token)
        except (PyJWTError, ValueError) as error:
            raise UnauthenticatedError("invalid_token") from error
        self._check_time(claims)
        return Principal(
            tenant=tenant_id(claims.get(self._rules.tenant_claim)),
            user=user_id(claims["sub"]),
            role=_role(claims.get(self._rules.role_claim)),
            token_id=_token_id(token),
            kind=self._kind(claims["aud"]),
        )

    def _claims(self, token: str) -> dict[str, Any]:
        key_id = jwt.get_unverified_header(token).get("kid")
        return jwt.decode(
            token,
            self._keys.key_for(key_id),
            algorithms=[self._keys.algorithm],
            audience=[self._rules.audience, self._rules.mcp_audience],
            issuer=self._rules.issuer,
            options=_OPTIONS,
        )

    def _check_time(self, claims: dict[str, Any]) -> None:
        now = self._clock.now().timestamp()
        leeway = _LEEWAY.total_seconds()
        if _seconds(claims["exp"]) + leeway <= now:
            raise UnauthenticatedError("invalid_token")
        if "nbf" in claims and _seconds(claims["nbf"]) - leeway > now:
            raise UnauthenticatedError("invalid_token")

    def _kind(self, audience: str | list[str]) -> TokenKind:
        audiences = [audience] if isinstance(audience, str) else audience
        if self._rules.audience in audiences:
            return TokenKind.INTERACTIVE
        return TokenKind.MCP


def _token_id(token: str) -> str:
    """Return what names a token: a digest of what is signed.

    The signature does not count: its base64 can be spelled in many ways that decode to the same
    bytes, and each would have calls of its own (decision 27).
    """
    signed = token.rpartition(".")[0]
    return hashlib.sha256(signed.encode()).hexdigest()[:_TOKEN_ID_CHARS]


def _role(raw: object) -> Role:
    """Return the role a token claims; a token without one has the weakest.

    Some identity providers give a list (of groups): the strongest of our roles in it counts.
    """
    if isinstance(raw, list):
        return max((role for role in Role if role in raw), default=Role.VIEWER, key=_rank)
    if raw is None:
        return Role.VIEWER
    try:
        return Role(raw)
    except ValueError as error:
        raise UnauthenticatedError("invalid_token") from error


def _rank(role: Role) -> int:
    return list(Role).index(role)


def _seconds(raw: object) -> float:
    """Return a claim that holds a moment (RFC 7519 §2, "NumericDate")."""
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise UnauthenticatedError("invalid_token")
    try:
        moment = float(raw)
    except OverflowError as error:
        raise UnauthenticatedError("invalid_token") from error
    # NaN compares as false with every moment: a token would never end.
    if not math.isfinite(moment):
        raise UnauthenticatedError("invalid_token")
    return moment
