"""Exports the audit log a day at a time, and seals each day: daily, for every tenant.

What is sealed cannot be cut off at its end any more: its seal is in the table and in the bucket.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from archivolt.domain.audit import ChainHead, DaySeal, KeptEntry, content_digest
from archivolt.domain.audit_limits import AUDIT_KEPT_DAYS, AUDIT_SEAL_HOURS
from archivolt.domain.errors import ArchivoltError
from archivolt.domain.identity import TenantId
from archivolt.governance.audit_lines import file_of
from archivolt.ports.audit import AuditChain, AuditSeals
from archivolt.ports.clock import Clock

_ONE_DAY = timedelta(days=1)
# A day is begun only with time for one of many entries.
_TIME_FOR_A_DAY = timedelta(seconds=30)


@dataclass(slots=True, kw_only=True)
class Sealed:
    """What one run did: days sealed, tenants that failed, and whether days are left."""

    days: int = 0
    entries: int = 0
    failed_tenants: int = 0
    complete: bool = True


class AuditSealing:
    """Seals the days that are over."""

    def __init__(self, chain: AuditChain, seals: AuditSeals, clock: Clock) -> None:
        self._chain = chain
        self._seals = seals
        self._clock = clock

    def run(self, *, time_left: Callable[[], timedelta]) -> Sealed:
        """Seal what is not sealed yet, as far as the time reaches; the next run goes on."""
        done = Sealed()
        for tenant in self._chain.tenants():
            try:
                self._seal(tenant, done, time_left)
            except ArchivoltError:
                # The others are sealed all the same, and this one is tried again tomorrow.
                done.failed_tenants += 1
                done.complete = False
        return done

    def _seal(self, tenant: TenantId, done: Sealed, time_left: Callable[[], timedelta]) -> None:
        sealed = self._seals.seals(tenant)
        last = sealed[-1] if sealed else None
        day = last.day + _ONE_DAY if last else self._first_day(tenant)
        over = (self._clock.now() - timedelta(hours=AUDIT_SEAL_HOURS)).date()
        while day < over:
            if time_left() < _TIME_FOR_A_DAY:
                done.complete = False
                return
            entries = list(self._chain.entries(tenant, day))
            if entries:
                last = _seal_of(day, entries, last)
                self._seals.keep(tenant, last, file_of(entries))
                done.days += 1
                done.entries += len(entries)
            day += _ONE_DAY

    def _first_day(self, tenant: TenantId) -> date:
        """Return the first day that may have entries: a call may end after one that began later."""
        first_days = [head.first_day for head in self._chain.heads(tenant) if head.first_day]
        oldest = self._clock.now().date() - timedelta(days=AUDIT_KEPT_DAYS)
        return max(oldest, min(first_days, default=oldest) - _ONE_DAY)


def _seal_of(day: date, entries: Sequence[KeptEntry], last: DaySeal | None) -> DaySeal:
    """Return the seal of a day that follows `last`."""
    lanes: dict[int, ChainHead] = {**last.lanes} if last else {}
    for kept in entries:
        lane, number = kept.place.lane, kept.place.number
        if lane not in lanes or lanes[lane].number < number:
            lanes[lane] = ChainHead(lane=lane, number=number, digest=kept.digest)
    return DaySeal(
        day=day,
        entries=len(entries),
        content=content_digest(entries),
        lanes=lanes,
        previous=last.digest if last else "",
    )
