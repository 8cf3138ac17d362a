"""Checks a tenant's audit log: its chains, its seals, and what was exported (issue: Governance).

It reads everything that is kept, a day at a time. Entries are written meanwhile: what is noted as
the last of each lane is read first, and what came after it is not judged.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from archivolt.domain.audit import ChainHead, DaySeal, KeptEntry, content_digest
from archivolt.domain.audit_limits import AUDIT_KEPT_DAYS
from archivolt.domain.identity import TenantId
from archivolt.governance.audit_lane import Fault, Found, Lane
from archivolt.governance.audit_lines import UnreadableLineError, entries_of
from archivolt.ports.audit import AuditChain, AuditSeals
from archivolt.ports.clock import Clock

_ONE_DAY = timedelta(days=1)
_MAX_FAULTS = 1_000


@dataclass(slots=True, kw_only=True)
class AuditReport:
    """What was checked, and what does not hold: nothing, unless somebody changed the log.

    `unnamed` entries had taken out of them whom and what they name, as an erasure does. `faults`
    are the first thousand.
    """

    tenant: TenantId
    entries: int = 0
    unnamed: int = 0
    sealed_days: int = 0
    faults: list[Found] = field(default_factory=list[Found])

    def tell(self, found: Found) -> None:
        """Add a fault."""
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(found)


class AuditCheck:
    """Reads the log of a tenant and tells whether it is whole and unchanged."""

    def __init__(self, chain: AuditChain, seals: AuditSeals, clock: Clock) -> None:
        self._chain = chain
        self._seals = seals
        self._clock = clock

    def tenants(self) -> Sequence[TenantId]:
        """Return the tenants that have a log, or had one that was exported."""
        return sorted({*self._chain.tenants(), *self._seals.tenants()})

    def check(self, tenant: TenantId) -> AuditReport:
        """Return what was found. It changes nothing."""
        report = AuditReport(tenant=tenant)
        heads = self._chain.heads(tenant)
        seals = self._seals.seals(tenant)
        today = self._clock.now().date()
        kept_from = today - timedelta(days=AUDIT_KEPT_DAYS - 1)
        _check_seals(seals, report.tell)
        first_days = [head.first_day for head in heads if head.first_day]
        # A call may be written after one that began the day after it.
        first = min(first_days, default=today) - _ONE_DAY
        lanes = _Lanes(heads, _starts(seals, first, kept_from, report.tell), report.tell)
        day = max(first, kept_from)
        while day <= today + _ONE_DAY:
            self._check_day(report, day, lanes, seals)
            day += _ONE_DAY
        lanes.end(self._chain.heads(tenant), today)
        self._check_exports(tenant, [seal for seal in seals if seal.day >= kept_from], report.tell)
        return report

    def _check_day(
        self, report: AuditReport, day: date, lanes: "_Lanes", seals: Sequence[DaySeal]
    ) -> None:
        entries = list(self._chain.entries(report.tenant, day))
        for kept in entries:
            lanes.take(day, kept)
        lanes.settle(day)
        report.entries += len(entries)
        report.unnamed += sum(kept.is_unnamed for kept in entries)
        for seal in seals:
            if seal.day == day:
                report.sealed_days += 1
                if not _is_day(seal, entries):
                    report.tell(Found(fault=Fault.DAY_CHANGED, day=day))

    def _check_exports(
        self, tenant: TenantId, seals: Sequence[DaySeal], tell: Callable[[Found], None]
    ) -> None:
        sealed = {seal.day for seal in seals}
        # Files of days no longer kept may be left for a while.
        first = min(sealed, default=date.min)
        for day in self._seals.exported_days(tenant):
            if day >= first and day not in sealed:
                tell(Found(fault=Fault.SEAL_MISSING, day=day))
        for seal in seals:
            self._check_export(tenant, seal, tell)

    def _check_export(self, tenant: TenantId, seal: DaySeal, tell: Callable[[Found], None]) -> None:
        content = self._seals.content(tenant, seal.day)
        exported = self._seals.exported_seal(tenant, seal.day)
        if content is None or exported is None:
            tell(Found(fault=Fault.EXPORT_MISSING, day=seal.day))
            return
        if exported.digest != seal.digest:
            tell(Found(fault=Fault.SEAL_CHANGED, day=seal.day))
        try:
            entries = list(entries_of(content))
        except UnreadableLineError as error:
            tell(Found(fault=Fault.EXPORT_CHANGED, day=seal.day, number=error.number))
            return
        if not _is_day(seal, entries) or not all(kept.is_intact for kept in entries):
            tell(Found(fault=Fault.EXPORT_CHANGED, day=seal.day))


class _Lanes:
    """The lanes of a tenant, each followed to what was noted as its last entry."""

    def __init__(
        self,
        heads: Sequence[ChainHead],
        starts: Mapping[int, ChainHead],
        tell: Callable[[Found], None],
    ) -> None:
        self._heads = {head.lane: head for head in heads}
        self._lanes = {
            lane: Lane(starts.get(lane, ChainHead(lane=lane)), tell) for lane in self._heads
        }
        self._tell = tell
        # Of each lane, the last number that was beyond what had been noted.
        self._beyond: dict[int, int] = {}

    def take(self, day: date, kept: KeptEntry) -> None:
        """Follow an entry, unless it came after what was noted as the last."""
        lane, number = kept.place.lane, kept.place.number
        if number == 0:
            self._tell(Found(fault=Fault.UNCHAINED, day=day))
        elif lane in self._heads and number <= self._heads[lane].number:
            self._lanes[lane].take(day, kept)
        else:
            self._beyond[lane] = max(number, self._beyond.get(lane, 0))

    def settle(self, before: date) -> None:
        """See `Lane.settle`."""
        for lane in self._lanes.values():
            lane.settle(before)

    def end(self, heads: Sequence[ChainHead], today: date) -> None:
        """See `Lane.end`; `heads` are the last entries as they are noted after all was read."""
        for lane, head in self._heads.items():
            self._lanes[lane].end(head, today)
        noted = {head.lane: head.number for head in heads}
        for lane, number in self._beyond.items():
            last = noted.get(lane, 0)
            if number > last:
                fault = Fault.BEYOND_HEAD
                count = number - last
                self._tell(Found(fault=fault, day=today, lane=lane, number=last + 1, count=count))


def _is_day(seal: DaySeal, entries: Sequence[KeptEntry]) -> bool:
    return len(entries) == seal.entries and content_digest(entries) == seal.content


def _check_seals(seals: Sequence[DaySeal], tell: Callable[[Found], None]) -> None:
    """Check that each seal follows the one before it."""
    previous = ""
    for seal in seals:
        if seal.previous != previous:
            tell(Found(fault=Fault.SEAL_CHANGED, day=seal.day))
        previous = seal.digest


def _starts(
    seals: Sequence[DaySeal], first: date, kept_from: date, tell: Callable[[Found], None]
) -> Mapping[int, ChainHead]:
    """Return where each lane begins: with its first entry, or after those no longer kept."""
    if first >= kept_from:
        return {}
    before = [seal for seal in seals if seal.day < kept_from]
    if not before:
        tell(Found(fault=Fault.UNSEALED, day=kept_from))
        return {}
    return before[-1].lanes
