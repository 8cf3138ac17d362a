"""Follows one lane of the audit log, entry by entry, and tells where its chain does not hold."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from archivolt.domain.audit import ChainHead, KeptEntry


class Fault(StrEnum):
    """What does not hold."""

    CHANGED = "changed"
    """An entry does not say what it said when it was written."""
    MISSING = "missing"
    """Entries between two others are gone."""
    CUT_OFF = "cut_off"
    """Entries after the last one that is there are gone."""
    DOUBLED = "doubled"
    """Two entries have the same place."""
    UNLINKED = "unlinked"
    """An entry does not follow the one before it: one of the two was exchanged."""
    UNCHAINED = "unchained"
    """An entry has no place in any chain: it was not written by this product."""
    BEYOND_HEAD = "beyond_head"
    """Entries come after the last one that was noted."""
    UNSEALED = "unsealed"
    """The first entries are no longer kept, and no seal tells what they ended with."""
    SEAL_CHANGED = "seal_changed"
    """A seal is not the one that was written, or does not follow the one before it."""
    SEAL_MISSING = "seal_missing"
    """A day was exported, and its seal is not in the table: it was removed, or an export broke off
    and the next run makes it again."""
    DAY_CHANGED = "day_changed"
    """A sealed day does not have the entries any more that it had."""
    EXPORT_MISSING = "export_missing"
    """The exported file of a sealed day, or its seal, is gone."""
    EXPORT_CHANGED = "export_changed"
    """The exported file of a sealed day does not have the entries of that day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A fault: on which day, and for entries in which lane and from which number on, how many."""

    fault: Fault
    day: date
    lane: int = -1
    number: int = 0
    count: int = 1


class Lane:
    """Takes the entries of a lane in the order of time, which is nearly that of their numbers.

    `start` is the entry before the first one that is expected; entries up to it may still come:
    they began later than others that ended before them.
    """

    def __init__(self, start: ChainHead, tell: Callable[[Found], None]) -> None:
        self._lane = start.lane
        self._seam = self._number = start.number
        self._digest = start.digest
        self._tell = tell
        self._waiting: dict[int, tuple[date, KeptEntry]] = {}

    def take(self, day: date, kept: KeptEntry) -> None:
        """Follow the chain to this entry, or keep it until those before it have come."""
        number = kept.place.number
        if not kept.is_intact:
            self._found(Fault.CHANGED, day, number)
        if number in self._waiting or self._seam < number <= self._number:
            self._found(Fault.DOUBLED, day, number)
        elif number > self._number:
            self._waiting[number] = day, kept
            self._advance()

    def settle(self, before: date) -> None:
        """Tell what is missing before entries of earlier days: it does not come any more."""
        while self._waiting:
            first = min(self._waiting)
            day, kept = self._waiting[first]
            if day >= before:
                return
            self._found(Fault.MISSING, day, self._number + 1, first - self._number - 1)
            self._number, self._digest = first - 1, kept.place.previous
            self._advance()

    def end(self, head: ChainHead, today: date) -> None:
        """Compare the end of the chain with what was noted as its last entry."""
        self.settle(date.max)
        if self._number < head.number:
            self._found(Fault.CUT_OFF, today, self._number + 1, head.number - self._number)
        elif self._digest != head.digest:
            self._found(Fault.UNLINKED, today, self._number)

    def _advance(self) -> None:
        while self._number + 1 in self._waiting:
            day, kept = self._waiting.pop(self._number + 1)
            self._number += 1
            if kept.place.previous != self._digest:
                self._found(Fault.UNLINKED, day, self._number)
            self._digest = kept.digest

    def _found(self, fault: Fault, day: date, number: int, count: int = 1) -> None:
        self._tell(Found(fault=fault, day=day, lane=self._lane, number=number, count=count))
