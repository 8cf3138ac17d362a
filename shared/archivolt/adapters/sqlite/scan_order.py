"""The order of what a scan finds, and what need not be looked at since it would come too late."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from archivolt.adapters.sqlite.note_queries import Conditions
from archivolt.adapters.sqlite.shard_pool import PresentShard
from archivolt.domain.limits import MAX_OCCURRENCES, MAX_REGEX_OCCURRENCES
from archivolt.domain.paths import VaultPath
from archivolt.ports.notes import ScanSort, TextScan


class Row(NamedTuple):
    """A note that may be found, with its text as patterns take it."""

    path: VaultPath
    size: int
    created: float
    modified: float
    text: bytes


class Found(NamedTuple):
    """A note that was found, without its text."""

    shard: PresentShard
    row: Row
    occurrences: int


class ScanOrder:
    """The order that a scan asks for; what is equal goes by vault and path."""

    def __init__(self, scan: TextScan) -> None:
        by_path = scan.sort is ScanSort.PATH
        self._key = _KEYS[scan.sort]
        self._descending = not by_path if scan.descending is None else scan.descending
        occurrences = f"min(length, {most_counted(scan)})" if scan.pattern else "0"
        # A note has no more occurrences than characters; what comes first is the fewest.
        fewest = "1" if scan.pattern else "0"
        by_relevance = occurrences if self._descending else fewest
        self._column = by_relevance if scan.sort is ScanSort.RELEVANCE else scan.sort.value

    def first(self, found: Sequence[Found], count: int) -> list[Found]:
        """Return so many, those that come first."""
        placed = sorted(found, key=lambda each: (each.shard[0].id, each.row.path))
        return sorted(placed, key=self._key, reverse=self._descending)[:count]

    def bound(self, conditions: Conditions, shard: PresentShard, worst: Found) -> None:
        """Leave out the notes of a shard that can only come after `worst`."""
        column, sign, key = self._column, ">" if self._descending else "<", self._key(worst)
        ours, other = shard[0].id, worst.shard[0].id
        if ours == other:
            conditions.add(
                f"({column} {sign} ? OR ({column} = ? AND path < ?))", key, key, worst.row.path
            )
        else:
            conditions.add(f"{column} {sign}{'=' * (ours < other)} ?", key)


def most_counted(scan: TextScan) -> int:
    """Return up to how many occurrences in a note count.

    Counting bytes costs nothing; each match of an expression costs as much as a small note.
    """
    just_bytes = not (scan.regex or scan.whole_word) and scan.pattern.isascii()
    return MAX_OCCURRENCES if just_bytes else MAX_REGEX_OCCURRENCES


_KEYS: Final[dict[ScanSort, Callable[[Found], float | str]]] = {
    ScanSort.RELEVANCE: lambda found: found.occurrences,
    ScanSort.PATH: lambda found: found.row.path,
    ScanSort.MODIFIED: lambda found: found.row.modified,
    ScanSort.CREATED: lambda found: found.row.created,
    ScanSort.SIZE: lambda found: found.row.size,
}
