"""Calls that nobody settled end daily, for who makes no other call and never looks at usage."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from archivolt.domain.identity import TenantId
from archivolt.domain.spending_limits import MAX_SWEPT, MAX_SWEPT_A_RUN
from archivolt.domain.tenancy_limits import MAX_TENANTS
from archivolt.governance.metering import Meter
from archivolt.observability import failure, logger
from archivolt.ports.tenancy import TenantDirectory

# What ending one page of reservations may still need.
_RESERVE: Final = timedelta(seconds=20)


@dataclass(slots=True, kw_only=True)
class LostCallsEnded:
    """What one run did: calls ended, tenants that failed, and whether every tenant was reached."""

    ended: int = 0
    tenants_failed: int = 0
    complete: bool = True


class LostCalls:
    """Ends the reservations that nobody ended in time.

    Args:
        meter: Ends those of a tenant.
        tenants: Knows which tenants there are.

    """

    def __init__(self, meter: Meter, tenants: TenantDirectory) -> None:
        self._meter = meter
        self._tenants = tenants

    def run(self, *, time_left: Callable[[], timedelta]) -> LostCallsEnded:
        """End those of every tenant, as far as time and number reach; the next run does the rest.

        Raises:
            UnavailableError: Tenants cannot be listed.

        """
        found = LostCallsEnded()
        for tenant in self._every_tenant():
            if time_left() <= _RESERVE or found.ended >= MAX_SWEPT_A_RUN:
                found.complete = False
                break
            try:
                found.ended += self.end_of(tenant, most=MAX_SWEPT_A_RUN - found.ended)
            except Exception as error:  # noqa: BLE001  one tenant's trouble is not another's
                logger.error("a tenant's lost calls were not ended", extra=failure(error))
                found.tenants_failed += 1
        return found

    def end_of(self, tenant: TenantId, *, most: int = MAX_SWEPT_A_RUN) -> int:
        """End those of one tenant, a page more than `most` at most; return how many there were.

        Raises:
            UnavailableError: The ledger cannot be reached.

        """
        ended = 0
        while ended < most:
            page = self._meter.sweep(tenant)
            ended += page
            if page < MAX_SWEPT:
                break
        return ended

    def _every_tenant(self) -> Iterator[TenantId]:
        after = ""
        while page := self._tenants.tenants(limit=MAX_TENANTS, after=after):
            yield from (tenant.id for tenant in page)
            after = page[-1].id
