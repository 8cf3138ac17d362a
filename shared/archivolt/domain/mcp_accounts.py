"""A person's own account at an MCP server of others, let in to by OAuth 2.1 (decision 104).

What such a server and its authorization server say of themselves is untrusted data.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from archivolt.domain.errors import ConflictError
from archivolt.domain.identity import TenantId, UserId

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


class McpAccountState(StrEnum):
    """How a person stands with a server."""

    ABSENT = "not_connected"
    CONNECTED = "connected"
    SIGN_IN_NEEDED = "sign_in_needed"
    """The account was let in once, and is no more, or not far enough."""
    MOVED = "moved"
    """There is an account for the address that the server had before; none is sent to this one."""


class AccountNeededError(ConflictError):
    """A server asks for the person's own account; the call was not made.

    `scope` is what it says to ask for; `lacks_scope`: it knows the account, which may do too
    little.
    """

    def __init__(
        self, server: str, *, address: str = "", scope: str = "", lacks_scope: bool = False
    ) -> None:
        super().__init__("mcp_sign_in_needed", server=server, address=address)
        self.server = server
        self.scope = scope
        self.lacks_scope = lacks_scope


class OAuthRefusedError(ConflictError):
    """An authorization server says no; `error` is its code (RFC 6749 §5.2)."""

    def __init__(self, server: str, error: str) -> None:
        super().__init__("mcp_sign_in_refused", server=server, reason=error)
        self.error = error


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationServer:
    """Who lets people in to a server, as its metadata says (RFC 9728, RFC 8414).

    `resource` is what tokens are asked for, `scope` what to ask for, "" for nothing in particular.
    `says_issuer`: answers carry `iss` (RFC 9207). `reads_documents`: a client may be an address.
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    resource: str
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    scope: str = ""
    says_issuer: bool = False
    reads_documents: bool = False
    auth_methods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOAuthClient:
    """Who we are to an authorization server; `method` is how `secret` is shown to it."""

    id: str
    secret: str = field(default="", repr=False)
    method: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptClient:
    """A client that we registered for a tenant, its secret sealed; none but its issuer knows it.

    `ends_at` is when that says that it ends, None for never.
    """

    server: str
    place: str
    issuer: str
    id: str
    sealed: str
    method: str
    good_until: datetime
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A client as it is registered, and when its secret ends, None for never (RFC 7591 §3.2.1)."""

    client: McpOAuthClient
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthWay:
    """Where tokens come from, and as whom we ask; it is kept sealed with them."""

    server: str
    resource: str
    token_endpoint: str
    revocation_endpoint: str
    client: McpOAuthClient


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAnswer:
    """Tokens as they are given out; `seconds` is how long, None where nobody says."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    seconds: int | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTokens:
    """What is sealed of an account."""

    way: OAuthWay
    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)

    def as_text(self) -> str:
        """Return it as text to seal."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> "McpTokens":
        """Return what `as_text` made text of."""
        read: dict[str, Any] = json.loads(text)
        return cls(way=_way(read["way"]), access=read["access"], refresh=read["refresh"])


@dataclass(frozen=True, slots=True, kw_only=True)
class McpAccount:
    """An account that somebody connected.

    `id` names this sign-in: another one is another account. `place` is the address that it is for.
    `sealed` are its tokens, "" once they are no good. `edition` counts how often they were renewed,
    `claimed_until` says that somebody does so now. `wanted` is a scope that it lacks, `refused`
    says that its newest token was.
    """

    tenant: TenantId
    user: UserId
    server: str
    place: str
    id: str
    issuer: str
    sealed: str = field(repr=False)
    connected_at: datetime
    expires_at: datetime | None = None
    renewable: bool = False
    scope: str = ""
    wanted: str = ""
    refused: bool = False
    edition: int = 0
    claimed_until: datetime | None = None

    @property
    def state(self) -> McpAccountState:
        """How it stands."""
        good = self.sealed and not self.wanted and not self.refused
        return McpAccountState.CONNECTED if good else McpAccountState.SIGN_IN_NEEDED

    def lost(self) -> "McpAccount":
        """Return it without its tokens, which are no good any more."""
        return replace(self, sealed="", expires_at=None, renewable=False, edition=self.edition + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSignIn:
    """What is remembered of somebody who went to sign in, by the digest of their `state`."""

    digest: str
    tenant: TenantId
    user: UserId
    server: str
    place: str
    sealed: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInSecrets:
    """What is sealed of a pending sign-in; `scope` is what was asked for."""

    way: OAuthWay
    verifier: str = field(repr=False)
    redirect_uri: str
    issuer: str
    says_issuer: bool
    scope: str

    def as_text(self) -> str:
        """Return it as text to seal."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> "SignInSecrets":
        """Return what `as_text` made text of."""
        read: dict[str, Any] = json.loads(text)
        way = _way(read.pop("way"))
        return cls(way=way, **read)


def client_description(redirect_uri: str) -> dict[str, Any]:
    """Return what we say of ourselves to whoever registers clients (RFC 7591).

    One that comes back to this machine is a program on it (OpenID Connect Registration §2).
    """
    native = urlsplit(redirect_uri).hostname in _LOOPBACK
    return {
        "client_name": "Archivolt",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": "native" if native else "web",
    }


def tokens_field(user: UserId, server: str) -> str:
    """Return the field that an account's tokens are sealed to."""
    return f"mcp-account:{server}:{user}"


def client_field(server: str) -> str:
    """Return the field that the secret of a client of ours is sealed to."""
    return f"mcp-client:{server}"


def joined_scopes(*scopes: str) -> str:
    """Return scopes together, each once, in their order."""
    return " ".join(dict.fromkeys(" ".join(scopes).split()))


def _way(read: dict[str, Any]) -> OAuthWay:
    client = McpOAuthClient(**read.pop("client"))
    return OAuthWay(client=client, **read)
