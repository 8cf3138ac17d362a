"""BM25 over one shard, with the statistics of all of them.

Each shard is asked once, for the postings of the terms. What they count is added up over all
shards; then each shard's passages are scored from its postings alone.
"""

import math
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import add
from typing import Final

from archivolt.adapters.sqlite import shard_file, shard_postings
from archivolt.adapters.sqlite.shard_connection import ShardConnection
from archivolt.adapters.sqlite.shard_postings import (
    Counted,
    added_up,
    occurrences_and_length,
    passages_of,
    unpacked,
)
from archivolt.domain.paths import VaultPath

# The usual constants (Robertson and Zaragoza 2009, section 3.5): how soon a term's repetition stops
# to count, and how far long passages are marked down.
_K1: Final = 1.2
_B: Final = 0.75

Groups = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many passages there are, their terms altogether, and the passages that have each group.

    Groups that no passage has are absent.
    """

    passages: int = 0
    terms: int = 0
    having: Mapping[int, int] = field(default_factory=dict[int, int])

    def __add__(self, other: "Statistics") -> "Statistics":
        both = {
            group: self.having.get(group, 0) + other.having.get(group, 0)
            for group in {*self.having, *other.having}
        }
        return Statistics(self.passages + other.passages, self.terms + other.terms, both)

    @property
    def average_length(self) -> float:
        """The terms of a passage on average; 1 where there are none."""
        return (self.terms / self.passages if self.passages else 0) or 1.0

    def weight(self, group: int) -> float:
        """Return the inverse document frequency of a group, never negative."""
        having = self.having.get(group, 0)
        return math.log(1 + (self.passages - having + 0.5) / (having + 0.5))


@dataclass(frozen=True, slots=True)
class Postings:
    """What one shard has of the terms asked for: the postings of each group that occurs in it.

    `total` is how many passages the shard has and their terms altogether; `within` the passages
    that may be found, None for all.
    """

    total: tuple[int, int] = (0, 0)
    groups: Mapping[int, bytes] = field(default_factory=dict[int, bytes])
    within: Collection[int] | None = None

    @property
    def statistics(self) -> Statistics:
        """What the shard counts."""
        having = {number: passages_of(packed) for number, packed in self.groups.items()}
        return Statistics(*self.total, having)


def postings(
    connection: sqlite3.Connection,
    *,
    groups: Groups,
    prefix: str,
    only: Collection[VaultPath] | None = None,
) -> Postings:
    """Return what one shard has of these terms, for documents at or below `prefix`.

    `only`: for these documents alone; None for all.
    """
    found = shard_postings.read(connection, list({term for group in groups for term in group}))
    by_group = {
        number: [found[term] for term in set(group) if term in found]
        for number, group in enumerate(groups)
    }
    return Postings(
        total=_total(connection),
        groups={number: added_up(packed) for number, packed in by_group.items() if packed},
        within=_within(connection, prefix, only) if found else None,
    )


def _within(
    connection: sqlite3.Connection, prefix: str, only: Collection[VaultPath] | None
) -> Collection[int] | None:
    below = shard_file.ids_below(connection, prefix) if prefix else None
    if only is None:
        return below
    wanted = shard_file.ids_of(connection, only)
    return wanted if below is None else wanted & below


class Scorer:
    """Scores the passages of one shard after the other."""

    def __init__(self, overall: Statistics) -> None:
        self._overall = overall
        self._shares: dict[int, _Shares] = {}

    def scores(self, postings: Postings) -> dict[int, float]:
        """Return the score of each passage that has any of the terms."""
        scores: dict[int, float] = {}
        score_of = scores.get
        for number, packed in postings.groups.items():
            passages, counts = unpacked(packed)
            shares = map(self._shares_of(number).__getitem__, counts)
            before = map(score_of, passages, repeat(0.0))
            scores.update(zip(passages, map(add, before, shares), strict=True))
        if postings.within is None:
            return scores
        return {each: score for each, score in scores.items() if each in postings.within}

    def _shares_of(self, group: int) -> "_Shares":
        if group not in self._shares:
            self._shares[group] = _Shares(self._overall.weight(group), self._overall.average_length)
        return self._shares[group]


class _Shares(dict[Counted, float]):
    """What a group adds to the score of a passage, by what was counted of it there."""

    def __init__(self, weight: float, average_length: float) -> None:
        super().__init__()
        self._most = weight * (_K1 + 1)
        self._slope = _K1 * _B / average_length

    def __missing__(self, both: Counted) -> float:
        times, length = occurrences_and_length(both)
        share = self._most * times / (times + _K1 * (1 - _B) + self._slope * length)
        self[both] = share
        return share


def _total(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many passages a shard has and their terms altogether."""
    if isinstance(connection, ShardConnection) and connection.total:
        return connection.total
    total: tuple[int, int] = connection.execute(
        "SELECT count(*), coalesce(sum(length), 0) FROM passages"
    ).fetchone()
    if isinstance(connection, ShardConnection):
        connection.total = total
    return total
