"""OAuth 2.1 in front of MCP: clients, codes, grants, and the people who sign in.

Secrets are kept as digests only. A grant is what a person let a client do; its access and refresh
tokens are named after it, so that ending it ends them.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.identity import Principal, Role, TenantId, TokenKind, TokenReach, UserId
from archivolt.domain.token_forms import TokenForm

ACCESS_TOKENS: Final = TokenForm(prefix="avo_")
# 62 ** 22 is more than 2 ** 128: this part stays, and proves that an old token was of its grant.
REFRESH_TOKENS: Final = TokenForm(prefix="avr_", kept_chars=22)
_TOKEN_ID_CHARS: Final = 32


class OAuthScope(StrEnum):
    """What a client may ask for; to write includes to read."""

    READ = "vaults:read"
    WRITE = "vaults:write"


ALL_SCOPES: Final = tuple(OAuthScope)


class OAuthError(InvalidRequestError):
    """A client's request breaks a rule of OAuth; `error` is the code of the RFC that names it."""

    @property
    def error(self) -> str:
        """The `error` of RFC 6749, 7591 or 8707."""
        return _RFC_ERRORS[self.code]


_RFC_ERRORS: Final = {
    "oauth_client": "invalid_client",
    "oauth_client_metadata": "invalid_client_metadata",
    "oauth_code": "invalid_grant",
    "oauth_denied": "access_denied",
    "oauth_grant_type": "unsupported_grant_type",
    "oauth_missing": "invalid_request",
    "oauth_pkce": "invalid_request",
    "oauth_redirect_uri": "invalid_redirect_uri",
    "oauth_refresh": "invalid_grant",
    "oauth_repeated": "invalid_request",
    "oauth_resource": "invalid_target",
    "oauth_response_type": "unsupported_response_type",
    "oauth_scope": "invalid_scope",
    "tenant_deleting": "access_denied",
    "tenant_suspended": "access_denied",
    "user_deleting": "access_denied",
    "user_suspended": "access_denied",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """A program that asks people for access. It has no secret: PKCE stands in for one.

    `id` is ours, or the address of the document that describes the client. `expires_at`: until when
    it is known without asking again.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    expires_at: datetime

    @property
    def has_document(self) -> bool:
        """Whether the client is who owns an address, not just who it says it is."""
        return self.id.startswith("https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who signed in, and their role of then."""

    tenant: TenantId
    user: UserId
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationCode:
    """What a person agreed to, until the client takes it. `challenge` is PKCE's, by S256.

    `grant` is the id of what it was exchanged for, "" before.
    """

    digest: str
    client_id: str
    client_name: str
    redirect_uri: str
    challenge: str
    person: Person
    reach: TokenReach
    expires_at: datetime
    grant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDigest:
    """An access token that was given out."""

    digest: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthGrant:
    """What a client may do for a person, until it ends or is ended.

    `family` is the digest of what all its refresh tokens share, `refresh` of the only one that is
    good, `access` those of the access tokens that may still be.
    """

    id: str
    client_id: str
    client_name: str
    person: Person
    reach: TokenReach
    family: str
    refresh: str
    access: tuple[AccessDigest, ...]
    created_at: datetime
    expires_at: datetime

    @property
    def scopes(self) -> tuple[OAuthScope, ...]:
        """The scopes of its tokens."""
        return scopes_of(self.reach)

    def principal(self) -> Principal:
        """Return who its access tokens speak for; renewed tokens share the limits of the first.

        The role is the weakest: what a program may do is in its reach.
        """
        return Principal(
            tenant=self.person.tenant,
            user=self.person.user,
            role=Role.VIEWER,
            token_id=self.family[:_TOKEN_ID_CHARS],
            kind=TokenKind.MCP,
            reach=self.reach,
            program=self.client_name,
        )

    def renewed(self, *, refresh: str, access: tuple[AccessDigest, ...]) -> "OAuthGrant":
        """Return it with other tokens."""
        return replace(self, refresh=refresh, access=access)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """A browser in which somebody signed in; `digest` is of the secret in its cookie."""

    digest: str
    person: Person
    expires_at: datetime

    def principal(self) -> Principal:
        """Return who acts in that browser."""
        return Principal(
            tenant=self.person.tenant,
            user=self.person.user,
            role=self.person.role,
            token_id=self.digest[:_TOKEN_ID_CHARS],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalUser:
    """Somebody who signs in with a password, on the stack of one machine."""

    person: Person
    password: str
    """Its hash, with how it was made."""


def scopes_of(reach: TokenReach) -> tuple[OAuthScope, ...]:
    """Return what a reach comes to in scopes."""
    return (OAuthScope.READ,) if reach.read_only else ALL_SCOPES
