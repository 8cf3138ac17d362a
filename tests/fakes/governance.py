"""Settings, counters, audit, tokens and secrets without any service."""

import base64
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from archivolt.domain.audit import AuditEntry
from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    UnauthenticatedError,
    UnavailableError,
)
from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.settings import TenantSettings
from archivolt.domain.user_settings import UserSettings
from archivolt.ports.audit import AuditPage


class InMemoryTenantSettings:
    """A `TenantSettingsStore` in a dictionary."""

    def __init__(self) -> None:
        self._settings: dict[TenantId, TenantSettings] = {}

    def load(self, tenant: TenantId) -> TenantSettings:
        return self._settings.get(tenant, TenantSettings())

    def save(
        self, tenant: TenantId, settings: TenantSettings, *, over: TenantSettings | None = None
    ) -> None:
        if over is not None and self.load(tenant).revision != over.revision:
            raise ConflictError("conflict")
        self._settings[tenant] = replace(settings, revision=settings.revision + 1)


class InMemoryUserSettings:
    """A `UserSettingsStore` in a dictionary."""

    def __init__(self) -> None:
        self._settings: dict[tuple[TenantId, UserId], UserSettings] = {}

    def load(self, tenant: TenantId, user: UserId) -> UserSettings:
        return self._settings.get((tenant, user), UserSettings())

    def change(self, tenant: TenantId, user: UserId, changes: Mapping[str, bool]) -> UserSettings:
        self._settings[tenant, user] = replace(self.load(tenant, user), **changes)
        return self._settings[tenant, user]


class InMemoryRates:
    """A `RateCounter` in a dictionary; `added` are the keys as they were counted."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int, str], int] = {}
        self._lock = threading.Lock()
        self.added: list[str] = []

    def add(
        self, key: str, names: Sequence[str], *, window: int, expires_at: int
    ) -> Mapping[str, int]:
        with self._lock:
            self.added.append(key)
            for name in names:
                self._counts[key, window, name] = self._counts.get((key, window, name), 0) + 1
            return {name: self._counts[key, window, name] for name in names}


class RecordingAudit:
    """An `AuditLog` that a test can read."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    def append(self, entry: AuditEntry) -> None:
        self.entries.append(entry)

    def page(
        self,
        tenant: TenantId,
        *,
        since: datetime,
        until: datetime,
        user: UserId | None = None,
        action: str = "",
        limit: int,
        cursor: str | None = None,
    ) -> AuditPage:
        if cursor is not None and not cursor.isdecimal():
            raise InvalidRequestError("unknown_page")
        wanted = [
            entry
            for entry in reversed(self.entries)
            if entry.principal.tenant == tenant and user in {None, entry.principal.user}
            if since <= entry.at < until
            if not action or action in {entry.action, entry.action.partition(":")[2]}
        ]
        newest_first = sorted(wanted, key=lambda entry: entry.at, reverse=True)
        start = int(cursor or 0)
        shown = newest_first[start : start + limit]
        more = len(newest_first) > start + limit
        return AuditPage(entries=shown, next_cursor=str(start + limit) if more else None)


class KnownTokens:
    """A `TokenVerifier` for tokens that the test handed out."""

    def __init__(self, tokens: dict[str, Principal] | None = None) -> None:
        self._tokens = dict(tokens or {})

    def issue(self, token: str, principal: Principal) -> str:
        """Make `token` valid for `principal` and return it."""
        self._tokens[token] = principal
        return token

    def verify(self, token: str) -> Principal:
        if token not in self._tokens:
            raise UnauthenticatedError("invalid_token")
        return self._tokens[token]


class ReversibleBox:
    """A `SecretBox` that binds to tenant and field, and hides nothing."""

    def seal(self, plaintext: str, *, tenant: TenantId, field: str) -> str:
        return base64.b64encode(f"{tenant}/{field}/{plaintext}".encode()).decode()

    def open(self, sealed: str, *, tenant: TenantId, field: str) -> str:
        opened = base64.b64decode(sealed).decode()
        if not opened.startswith(f"{tenant}/{field}/"):
            raise UnavailableError("secret_unreadable")
        return opened.removeprefix(f"{tenant}/{field}/")
