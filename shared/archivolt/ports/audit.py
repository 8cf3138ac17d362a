"""The audit log: appended to, shown, and checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from archivolt.domain.audit import AuditEntry, ChainHead, DaySeal, KeptEntry
from archivolt.domain.identity import TenantId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """Some entries, the newest first; `next_cursor` asks for those before them, None: no more."""

    entries: list[AuditEntry]
    next_cursor: str | None = None


class AuditLog(Protocol):
    """An append-only record. Every implementation passes `tests/contract`."""

    def append(self, entry: AuditEntry) -> None:
        """Add an entry; entries are never changed.

        Raises:
            UnavailableError: It could not be added.

        """
        ...

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
        """Return at most `limit` entries of a tenant from `since` on and before `until`.

        With `action`, those of this tool alone, its steps (`propose:…`, `apply:…`) included. A page
        may hold fewer, even none, while others follow: it ends where one look ends.

        Raises:
            InvalidRequestError: `unknown_page`: the cursor is none of ours.

        """
        ...


class AuditChain(Protocol):
    """The log as whoever checks and exports it sees it: all of it, with its chain."""

    def tenants(self) -> Sequence[TenantId]:
        """Return the tenants that have entries."""
        ...

    def heads(self, tenant: TenantId) -> Sequence[ChainHead]:
        """Return the last entry of each lane that has any."""
        ...

    def entries(self, tenant: TenantId, day: date) -> Iterator[KeptEntry]:
        """Yield the entries of a day in the order of time.

        One that has no place in a chain, as none of ours does, has the number 0.
        """
        ...


class AuditSeals(Protocol):
    """What was exported, and the seal of each day."""

    def seals(self, tenant: TenantId) -> Sequence[DaySeal]:
        """Return the seals of a tenant as they were noted, the oldest first."""
        ...

    def keep(self, tenant: TenantId, seal: DaySeal, content: bytes) -> None:
        """Export a day and note its seal; one that is there already stays as it is."""
        ...

    def tenants(self) -> Sequence[TenantId]:
        """Return the tenants of which something was exported."""
        ...

    def exported_days(self, tenant: TenantId) -> Sequence[date]:
        """Return the days of a tenant of which there are exported files, the oldest first."""
        ...

    def content(self, tenant: TenantId, day: date) -> bytes | None:
        """Return the exported file of a day as it is now, None where there is none."""
        ...

    def exported_seal(self, tenant: TenantId, day: date) -> DaySeal | None:
        """Return the seal that was exported with the day, None where there is none that reads."""
        ...
