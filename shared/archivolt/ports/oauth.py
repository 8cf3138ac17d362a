"""Where OAuth keeps its clients, codes, grants, browser sessions and local people."""

from datetime import datetime
from typing import Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.oauth import (
    AuthorizationCode,
    BrowserSession,
    LocalUser,
    OAuthClient,
    OAuthGrant,
)


class OAuthClientStore(Protocol):
    """Keeps clients. Every implementation passes `tests/contract`."""

    def put(self, client: OAuthClient) -> None:
        """Keep a client until it expires, in place of what was known of it."""
        ...

    def find(self, client_id: str) -> OAuthClient | None:
        """Return a client, even one that has expired; None: there is none (any more)."""
        ...


class OAuthGrantStore(Protocol):
    """Keeps codes and grants. Every implementation passes `tests/contract`."""

    def add_code(self, code: AuthorizationCode) -> None:
        """Keep a new code, and remember it for a while after it expired or was exchanged."""
        ...

    def find_code(self, digest: str) -> AuthorizationCode | None:
        """Return a code, even one that has expired or was exchanged."""
        ...

    def exchange(self, code: AuthorizationCode, grant: OAuthGrant) -> None:
        """Keep a new grant in exchange for a code, once whatever happens at the same time.

        Raises:
            ConflictError: The code was exchanged already.

        """
        ...

    def find(self, grant_id: str) -> OAuthGrant | None:
        """Return a grant of any tenant; None: there is none (any more)."""
        ...

    def renew(self, before: OAuthGrant, after: OAuthGrant) -> None:
        """Keep a grant's new tokens, if those of `before` are still its own.

        Raises:
            ConflictError: They are not, or the grant has ended.

        """
        ...

    def of_user(self, tenant: TenantId, user: UserId) -> list[OAuthGrant]:
        """Return what a person granted, the newest first."""
        ...

    def of_tenant(self, tenant: TenantId) -> list[OAuthGrant]:
        """Return what everybody of a tenant granted, by user, the newest first."""
        ...

    def remove(self, grant: OAuthGrant) -> None:
        """End a grant, at once; one that has ended already is no error."""
        ...


class BrowserSessionStore(Protocol):
    """Keeps browser sessions. Every implementation passes `tests/contract`."""

    def add(self, session: BrowserSession) -> None:
        """Keep a new session."""
        ...

    def find(self, digest: str) -> BrowserSession | None:
        """Return a session, even one that has expired."""
        ...

    def remove(self, digest: str) -> None:
        """End a session, at once."""
        ...

    def spend(self, mark: str, *, until: datetime) -> None:
        """Note that something which is good for one use was used; forgotten after `until`.

        Raises:
            ConflictError: It was used already.

        """
        ...


class LocalUserStore(Protocol):
    """Keeps those who sign in with a password. Every implementation passes `tests/contract`."""

    def find(self, name: UserId) -> LocalUser | None:
        """Return somebody by the name they sign in with."""
        ...

    def put(self, user: LocalUser) -> None:
        """Keep somebody, in place of who had the name."""
        ...

    def all(self) -> list[LocalUser]:
        """Return everybody, by name."""
        ...

    def remove(self, name: UserId) -> None:
        """Forget somebody; nobody is no error."""
        ...


class ClientDocuments(Protocol):
    """Reads the documents by which clients describe themselves."""

    def read(self, address: str) -> object:
        """Return the parsed JSON at an https address.

        Raises:
            UnavailableError: It cannot be read, or is none.
            InvalidRequestError: `address_not_allowed`.

        """
        ...
