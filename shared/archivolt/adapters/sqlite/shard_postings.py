"""The postings of one shard: for each term, the passages that have it, packed into one value.

A posting is two numbers of 32 bits, the smaller end first: the passage, and how often it has the
term together with its length, as ranking needs no more of it. Reading a term is so one step,
however common it is.
"""

import sqlite3
import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

SCHEMA: Final = """
CREATE TABLE postings (
    id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, packed BLOB NOT NULL
) STRICT;
"""

# Beyond these, neither makes a difference to the ranking that anyone could see.
_LENGTH_BITS: Final = 20
_MAX_LENGTH: Final = (1 << _LENGTH_BITS) - 1
_MAX_OCCURRENCES: Final = (1 << 32 - _LENGTH_BITS) - 1
_POSTING_BYTES: Final = 8
# The passage is the smaller half of a posting, and the length the smaller part of the other.
_LENGTH_SHIFT: Final = 32
_OCCURRENCES_SHIFT: Final = _LENGTH_SHIFT + _LENGTH_BITS
_PASSAGE: Final = (1 << _LENGTH_SHIFT) - 1
_pack_one: Final = struct.Struct("<Q").pack

Counted = int
"""How often a passage has a term, and its length, in one number."""


def passages_of(packed: bytes) -> int:
    """Return how many passages have a term."""
    return len(packed) // _POSTING_BYTES


def occurrences_and_length(both: Counted) -> tuple[int, int]:
    """Return the two of one number."""
    return both >> _LENGTH_BITS, both & _MAX_LENGTH


def unpacked(packed: bytes) -> tuple[Sequence[int], Sequence[Counted]]:
    """Return the passages of a term, and of each what was counted."""
    numbers = struct.unpack(f"<{len(packed) // 4}I", packed)
    return numbers[::2], numbers[1::2]


def added_up(several: Sequence[bytes]) -> bytes:
    """Return the postings of terms that count as one word: their occurrences are added up."""
    longest, *others = sorted(several, key=len, reverse=True)
    if not others:
        return longest
    found = dict(zip(*unpacked(longest), strict=True))
    for packed in others:
        for passage, both in zip(*unpacked(packed), strict=True):
            times, length = occurrences_and_length(both)
            known, _ = occurrences_and_length(found.get(passage, 0))
            found[passage] = _counted(times + known, length)
    return _packed(chain.from_iterable(found.items()))


def read(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, bytes]:
    """Return the postings, packed, of those of these terms that occur.

    Raises:
        sqlite3.DatabaseError: They are damaged.

    """
    places = ", ".join("?" * len(terms))
    statement = f"SELECT term, packed FROM postings WHERE term IN ({places})"  # noqa: S608  marks
    found = dict(connection.execute(statement, terms).fetchall())
    if any(len(packed) % _POSTING_BYTES for packed in found.values()):
        raise sqlite3.DatabaseError("postings of no whole number")
    return found


class PostingsWriter:
    """Gathers what a write puts in and takes out, so that each term is written once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._added: defaultdict[str, list[int]] = defaultdict(list)
        self._gone: set[int] = set()

    def add(self, passage: int, terms: Mapping[str, int], length: int) -> None:
        """Put in a passage, whose id no other of the same write had."""
        alike = min(length, _MAX_LENGTH) << _LENGTH_SHIFT | passage
        for term, occurrences in terms.items():
            counted = occurrences if occurrences < _MAX_OCCURRENCES else _MAX_OCCURRENCES
            self._added[term].append(counted << _OCCURRENCES_SHIFT | alike)

    def remove(self, passages: Iterable[int]) -> None:
        """Take out passages, also such as were put in by this write."""
        self._gone.update(passages)

    def finish(self) -> None:
        """Write what was gathered."""
        if self._gone:
            self._take_out()
        self._connection.executemany(
            "INSERT INTO postings (term, packed) VALUES (?, ?) ON CONFLICT (term)"
            " DO UPDATE SET packed = CAST(packed || excluded.packed AS BLOB)",
            [
                (term, packed)
                for term, postings in self._added.items()
                if (packed := _packed_without(postings, self._gone))
            ],
        )

    def _take_out(self) -> None:
        # Postings are stored by term: this reads them all, which costs less than a second index.
        rows: list[tuple[int, bytes]] = self._connection.execute(
            "SELECT id, packed FROM postings"
        ).fetchall()
        for number, packed in rows:
            passages, _ = unpacked(packed)
            if self._gone.isdisjoint(passages):
                continue
            postings = struct.unpack(f"<{passages_of(packed)}Q", packed)
            kept = _packed_without(postings, self._gone)
            if kept:
                self._connection.execute(
                    "UPDATE postings SET packed = ? WHERE id = ?", (kept, number)
                )
            else:
                self._connection.execute("DELETE FROM postings WHERE id = ?", (number,))


def _packed_without(postings: Sequence[int], gone: Collection[int]) -> bytes:
    """Return postings, each as one number, packed; those of the passages that are gone left out."""
    if gone:
        postings = [posting for posting in postings if posting & _PASSAGE not in gone]
    if len(postings) == 1:
        return _pack_one(postings[0])
    return struct.pack(f"<{len(postings)}Q", *postings)


def _packed(numbers: Iterable[int]) -> bytes:
    every = tuple(numbers)
    return struct.pack(f"<{len(every)}I", *every)


def _counted(occurrences: int, length: int) -> Counted:
    return min(occurrences, _MAX_OCCURRENCES) << _LENGTH_BITS | min(length, _MAX_LENGTH)
