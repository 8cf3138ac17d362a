"""Tokens of the local stack: what an identity provider would issue, signed with the stack's key."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

import jwt

from archivolt.domain.identity import Role
from archivolt.domain.limits import SIGN_IN_LINK_SECONDS
from archivolt.governance.sign_in.local import LINK_AUDIENCE
from archivolt.ports.clock import Clock

LOCAL_ISSUER = "archivolt-local"
LOCAL_AUDIENCE = "archivolt"
LOCAL_TENANT = "local"
LOCAL_USER = "admin"
_VALID_FOR = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class TokenSubject:
    """Whom a token speaks for."""

    tenant: str = LOCAL_TENANT
    user: str = LOCAL_USER
    role: Role = Role.TENANT_ADMIN


def sign_in_link(url: str, subject: TokenSubject, signing_key: str, clock: Clock) -> str:
    """Return an address that signs somebody in in a browser, once and within an hour."""
    hour = timedelta(seconds=SIGN_IN_LINK_SECONDS)
    token = issue_token(subject, signing_key, clock, audience=LINK_AUDIENCE, valid_for=hour)
    return f"{url}/oauth/link?token={token}"


def issue_token(
    subject: TokenSubject,
    signing_key: str,
    clock: Clock,
    *,
    audience: str = LOCAL_AUDIENCE,
    valid_for: timedelta = _VALID_FOR,
) -> str:
    """Return a token that the stack with this key accepts, for 30 days unless told otherwise."""
    now = clock.now()
    claims = {
        "iss": LOCAL_ISSUER,
        "aud": audience,
        "sub": subject.user,
        "tenant": subject.tenant,
        "role": subject.role.value,
        "jti": str(uuid.uuid4()),
        "iat": int(now.timestamp()),
        "exp": int((now + valid_for).timestamp()),
    }
    return jwt.encode(claims, signing_key, algorithm="HS256")
