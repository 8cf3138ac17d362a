"""What governs calls: settings, keys, rate limits, audit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.settings import TenantSettings
from archivolt.domain.user_settings import UserSettings


class TokenVerifier(Protocol):
    """Turns a bearer token into a principal (O70, R6)."""

    def verify(self, token: str) -> Principal:
        """Return who the token speaks for.

        Raises:
            UnauthenticatedError: `invalid_token`.
            UnavailableError: The identity provider's keys cannot be read.

        """
        ...


class TenantSettingsStore(Protocol):
    """Keeps each tenant's settings. Every implementation passes `tests/contract`."""

    def load(self, tenant: TenantId) -> TenantSettings:
        """Return the settings; defaults for a tenant that set none."""
        ...

    def save(self, tenant: TenantId, settings: TenantSettings) -> None:
        """Replace the settings."""
        ...


class UserSettingsStore(Protocol):
    """Keeps each user's own settings. Every implementation passes `tests/contract`."""

    def load(self, tenant: TenantId, user: UserId) -> UserSettings:
        """Return the settings; defaults for a user who set none."""
        ...

    def change(self, tenant: TenantId, user: UserId, changes: Mapping[str, bool]) -> UserSettings:
        """Set fields by their names, leave the others as they are, and return all."""
        ...


class SecretBox(Protocol):
    """Seals secrets to a tenant and a field (decision 24)."""

    def seal(self, plaintext: str, *, tenant: TenantId, field: str) -> str:
        """Return ciphertext as text."""
        ...

    def open(self, sealed: str, *, tenant: TenantId, field: str) -> str:
        """Return the plaintext.

        Raises:
            UnavailableError: `secret_unreadable`: another tenant's, another field's, or damaged.

        """
        ...


class RateCounter(Protocol):
    """Counts calls per window, shared by every door (O67)."""

    def increment(self, key: str, *, window_start: int, expires_at: int) -> int:
        """Add one to the counter of `key` in this window and return the new count.

        `window_start` and `expires_at` are epoch seconds. The addition is atomic.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who did what, when, with what outcome; never content (O68, S24).

    `arguments_digest` is the SHA-256 of the canonical JSON of the arguments.
    """

    principal: Principal
    action: str
    at: datetime
    outcome: str
    surface: str
    milliseconds: int
    arguments_digest: str = ""
    vault: str = ""
    path: str = ""
    details: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """Some entries, the newest first; `next_cursor` asks for those before them, None: no more."""

    entries: list[AuditEntry]
    next_cursor: str | None = None


class AuditLog(Protocol):
    """An append-only record. Every implementation passes `tests/contract`."""

    def append(self, entry: AuditEntry) -> None:
        """Add an entry; entries are never changed."""
        ...

    def page(
        self,
        tenant: TenantId,
        *,
        since: datetime,
        until: datetime,
        user: UserId | None = None,
        limit: int,
        cursor: str | None = None,
    ) -> AuditPage:
        """Return at most `limit` entries of a tenant from `since` on and before `until`.

        A page may hold fewer, even none, while others follow: it ends where one look ends.

        Raises:
            InvalidRequestError: `unknown_page`: the cursor is none of ours.

        """
        ...
