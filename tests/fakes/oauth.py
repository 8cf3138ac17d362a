"""What OAuth keeps, in dictionaries."""

import threading
from dataclasses import replace
from datetime import datetime

from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.oauth import (
    AuthorizationCode,
    BrowserSession,
    LocalUser,
    OAuthClient,
    OAuthGrant,
)


class InMemoryOAuthClients:
    """An `OAuthClientStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._clients: dict[str, OAuthClient] = {}

    def put(self, client: OAuthClient) -> None:
        self._clients[client.id] = client

    def find(self, client_id: str) -> OAuthClient | None:
        return self._clients.get(client_id)


class InMemoryOAuthGrants:
    """An `OAuthGrantStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._codes: dict[str, AuthorizationCode] = {}
        self._grants: dict[str, OAuthGrant] = {}

    def add_code(self, code: AuthorizationCode) -> None:
        with self._lock:
            if code.digest in self._codes:
                raise ConflictError("conflict")
            self._codes[code.digest] = code

    def find_code(self, digest: str) -> AuthorizationCode | None:
        with self._lock:
            return self._codes.get(digest)

    def exchange(self, code: AuthorizationCode, grant: OAuthGrant) -> None:
        with self._lock:
            kept = self._codes.get(code.digest)
            if kept is None or kept.grant:
                raise ConflictError("conflict")
            self._codes[code.digest] = replace(kept, grant=grant.id)
            self._grants[grant.id] = grant

    def find(self, grant_id: str) -> OAuthGrant | None:
        with self._lock:
            return self._grants.get(grant_id)

    def renew(self, before: OAuthGrant, after: OAuthGrant) -> None:
        with self._lock:
            kept = self._grants.get(before.id)
            if kept is None or kept.refresh != before.refresh:
                raise ConflictError("conflict")
            self._grants[after.id] = after

    def of_user(self, tenant: TenantId, user: UserId) -> list[OAuthGrant]:
        return [grant for grant in self.of_tenant(tenant) if grant.person.user == user]

    def of_tenant(self, tenant: TenantId) -> list[OAuthGrant]:
        with self._lock:
            found = [grant for grant in self._grants.values() if grant.person.tenant == tenant]
        newest = sorted(found, key=lambda grant: (grant.created_at, grant.id), reverse=True)
        return sorted(newest, key=lambda grant: grant.person.user)

    def remove(self, grant: OAuthGrant) -> None:
        with self._lock:
            self._grants.pop(grant.id, None)


class InMemoryBrowserSessions:
    """A `BrowserSessionStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, BrowserSession] = {}
        self._spent: set[str] = set()

    def add(self, session: BrowserSession) -> None:
        self._sessions[session.digest] = session

    def find(self, digest: str) -> BrowserSession | None:
        return self._sessions.get(digest)

    def remove(self, digest: str) -> None:
        self._sessions.pop(digest, None)

    def spend(self, mark: str, *, until: datetime) -> None:
        del until
        with self._lock:
            if mark in self._spent:
                raise ConflictError("conflict")
            self._spent.add(mark)


class InMemoryLocalUsers:
    """A `LocalUserStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._users: dict[UserId, LocalUser] = {}

    def find(self, name: UserId) -> LocalUser | None:
        return self._users.get(name)

    def put(self, user: LocalUser) -> None:
        self._users[user.person.user] = user

    def all(self) -> list[LocalUser]:
        return [self._users[name] for name in sorted(self._users)]

    def remove(self, name: UserId) -> None:
        self._users.pop(name, None)


class ScriptedDocuments:
    """A `ClientDocuments` that knows what the test put at each address."""

    def __init__(self) -> None:
        self.documents: dict[str, object] = {}
        self.reads = 0

    def read(self, address: str) -> object:
        self.reads += 1
        if address not in self.documents:
            raise UnavailableError("unavailable")
        return self.documents[address]
