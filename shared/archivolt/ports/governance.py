"""What governs calls: settings, keys, rate limits."""

from collections.abc import Mapping, Sequence
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
            ForbiddenError: Whoever it speaks for may not come in (`governance.admission`).
            UnavailableError: The identity provider's keys cannot be read.

        """
        ...


class TenantSettingsStore(Protocol):
    """Keeps each tenant's settings. Every implementation passes `tests/contract`."""

    def load(self, tenant: TenantId) -> TenantSettings:
        """Return the settings; defaults for a tenant that set none."""
        ...

    def save(
        self, tenant: TenantId, settings: TenantSettings, *, over: TenantSettings | None = None
    ) -> None:
        """Replace the settings; those of `over` alone, where it is given.

        Raises:
            ConflictError: They are not those of `over` any more.

        """
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

    def add(
        self, key: str, names: Sequence[str], *, window: int, expires_at: int
    ) -> Mapping[str, int]:
        """Add one to each named count of a key in a window, in one step; return the new counts.

        `window` is its first second, and `expires_at` when the counts may go: epoch seconds.
        """
        ...
