"""What a tenant still keeps of what ages from its last use: what is over age is not there (S19).

What was used within the shortest period needs no look at the tenant's settings: that is nearly
everything that somebody is at.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from archivolt.domain.identity import TenantId
from archivolt.domain.retention import kept_since, may_be_over_age
from archivolt.ports.clock import Clock
from archivolt.ports.governance import TenantSettingsStore


class Used(Protocol):
    """Something with the moment of its last use."""

    @property
    def updated_at(self) -> datetime:
        """When it was last used."""
        ...


UsedT = TypeVar("UsedT", bound=Used)


class Kept:
    """Tells what is over age.

    Args:
        settings: Each tenant's.
        clock: The time.

    """

    def __init__(self, settings: TenantSettingsStore, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock

    def is_over_age(self, tenant: TenantId, one: Used) -> bool:
        """Tell whether a tenant does not keep it any more."""
        return self._may_be(one) and not self._still(tenant, [one])

    def of_page(
        self, tenant: TenantId, page: list[UsedT], next_after: str | None
    ) -> tuple[list[UsedT], str | None]:
        """Return what is kept of a page, last used first, and the next page's key.

        What is over age comes last: after it, nothing is kept.
        """
        if not page or not self._may_be(page[-1]):
            return page, next_after
        kept = self._still(tenant, page)
        return kept, next_after if len(kept) == len(page) else None

    def _may_be(self, one: Used) -> bool:
        return may_be_over_age(one.updated_at, self._clock.now())

    def _still(self, tenant: TenantId, page: Sequence[UsedT]) -> list[UsedT]:
        days = self._settings.load(tenant).chat_retention_days
        since = kept_since(self._clock.now(), days)
        return [each for each in page if since is None or each.updated_at >= since]
