"""BM25 over one shard, with the statistics of all of them.

Two questions are put to each shard: what it counts, and, once the counts of all are added up, which
of its passages are best.
"""

import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from archivolt.adapters.sqlite.shard_connection import ShardConnection

# The usual constants (Robertson and Zaragoza 2009, section 3.5): how soon a term's repetition stops
# to count, and how far long passages are marked down.
_K1: Final = 1.2
_B: Final = 0.75

Groups = Sequence[Sequence[str]]
Ranked = tuple[float, str, int, int]
"""Score, path, the passage's number in its document, its id in the shard."""


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


def statistics(connection: sqlite3.Connection, groups: Groups) -> Statistics:
    """Return what one shard counts."""
    pairs = [(number, term) for number, group in enumerate(groups) for term in set(group)]
    having: list[tuple[int, int]] = connection.execute(
        f"WITH asked (number, term) AS (VALUES {_places(pairs)})"  # noqa: S608  question marks only
        " SELECT number, count(DISTINCT passage) FROM asked CROSS JOIN postings USING (term)"
        " GROUP BY number",
        [value for pair in pairs for value in pair],
    ).fetchall()
    return Statistics(*_total(connection), dict(having))


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


def best(
    connection: sqlite3.Connection,
    *,
    groups: Groups,
    overall: Statistics,
    limit: int,
    prefix: str,
    least: float = 0.0,
) -> list[Ranked]:
    """Return at most `limit` of the best passages of one shard, best first.

    Those that score less than `least` are left out.
    """
    asked = [
        (number, term, overall.weight(number))
        for number, group in enumerate(groups)
        for term in set(group)
    ]
    saturation = (_K1 + 1, _K1 * (1 - _B), _K1 * _B / overall.average_length)
    below = (prefix, prefix, f"{prefix}/", f"{prefix}0")  # "0" comes after "/"
    return connection.execute(
        _BEST.replace("{places}", _places(asked)),
        [*(value for row in asked for value in row), *saturation, least, *below, limit],
    ).fetchall()


# A term's occurrences are added up over its group before they count, as if they were one word's.
# Paths are looked up for what scores enough alone: of common words that is a small part.
_BEST: Final = """
WITH asked (number, term, weight) AS (VALUES {places}),
found AS (
    SELECT passage, weight, sum(occurrences) AS times
    FROM asked CROSS JOIN postings USING (term) GROUP BY asked.number, passage
),
scored AS MATERIALIZED (
    SELECT passage, sum(weight * times * ? / (times + ? + ? * length)) AS score
    FROM found CROSS JOIN passages ON id = passage GROUP BY passage HAVING score >= ?
)
SELECT score, path, number, passage
FROM scored CROSS JOIN passages ON passages.id = passage
CROSS JOIN documents ON documents.id = document
WHERE ? = '' OR path = ? OR (path >= ? AND path < ?)
ORDER BY score DESC, path, number LIMIT ?
"""


def _places(rows: Sequence[Sequence[object]]) -> str:
    row = f"({', '.join('?' * len(rows[0]))})"
    return ", ".join([row] * len(rows))
