"""Where erasures are noted, what removes data, and where the work waits."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Protocol

from archivolt.domain.erasure import Erasure
from archivolt.domain.identity import TenantId


class ErasureRecords(Protocol):
    """Keeps erasures and their receipts. All may raise `UnavailableError`."""

    def add(self, erasure: Erasure) -> None:
        """Note a new erasure, before anything of it is done."""
        ...

    def get(self, erasure_id: str) -> Erasure | None:
        """Return an erasure of any tenant, strongly consistent."""
        ...

    def of_tenant(
        self, tenant: TenantId, *, limit: int, after: str = "", conversations: bool = False
    ) -> tuple[Sequence[Erasure], str | None]:
        """Return one page of a tenant's erasures, the newest first, and the next page's key.

        Either those of conversations, or all others.
        """
        ...

    def under_way(self, tenant: TenantId) -> Sequence[Erasure]:
        """Return the erasures of a tenant that are not done, strongly consistent."""
        ...

    def unfinished(self) -> Sequence[str]:
        """Return the ids of those that are not done."""
        ...

    def take(self, erasure_id: str, *, now: datetime, until: datetime) -> Erasure | None:
        """Take one to work on it; None if it is done, absent, or somebody else's until then."""
        ...

    def save(self, erasure: Erasure, *, until: datetime) -> None:
        """Note where it stands and which vaults go with it, and hold it until then.

        The counts are their erasers' to note.
        """
        ...

    def begin_run(self, erasure: Erasure, *, until: datetime) -> Erasure:
        """Note that the next walk begins: what it finds is counted from nothing."""
        ...

    def finish(self, erasure: Erasure) -> None:
        """Close the receipt; what names a person is taken out of it."""
        ...


class Eraser(Protocol):
    """Removes from one store what belongs to a subject, and counts it, a part at a time.

    A count is exact whatever breaks off where: each thing is counted with its removal, or noted
    before and counted after. All may raise `UnavailableError`.
    """

    @property
    def store(self) -> str:
        """What the receipt calls the store."""
        ...

    def page(self, erasure: Erasure, cursor: str) -> str | None:
        """Remove a part from a place on ("": the beginning); return the next, None at the end."""
        ...


class AgedExports(Protocol):
    """The audit log's exported files that are older than what is kept of it."""

    def remove(self, *, before: date, time_left: Callable[[], timedelta]) -> int:
        """Remove the files of the days before one; return how many versions that were.

        Raises:
            UnavailableError: They cannot be removed now.

        """
        ...


class ErasureQueue(Protocol):
    """Where the work on erasures waits."""

    def send(self, erasure_id: str, *, delay: timedelta = timedelta()) -> None:
        """Queue the work on one, at least once, in a while or at once."""
        ...
