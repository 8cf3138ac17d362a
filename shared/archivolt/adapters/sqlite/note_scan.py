"""One scan: which notes have a pattern, how often, and where."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import compress
from operator import not_
from typing import Final

from archivolt.adapters.sqlite import note_queries
from archivolt.adapters.sqlite.line_matches import line_matches
from archivolt.adapters.sqlite.scan_order import Found, Row, ScanOrder, most_counted
from archivolt.adapters.sqlite.shard_pool import PresentShard
from archivolt.adapters.sqlite.shard_reader import ShardSession
from archivolt.domain.folding import folded
from archivolt.domain.globs import glob_regex
from archivolt.domain.limits import MAX_SCAN_MATCHES, MAX_SCAN_SECONDS
from archivolt.ports.clock import Clock
from archivolt.ports.notes import ScanHit, ScanPage, TextScan
from archivolt.ports.patterns import PatternCompiler

# What is read before the clock is looked at again.
_BYTES_AT_ONCE: Final = 1_000_000
_NOTES_AT_ONCE: Final = 1_000
_MAX_TRIGRAMS: Final = 12
Asked = tuple[str, list[object]]
_TRIGRAM: Final = 3


class _Paths:
    """Patterns of whole paths."""

    def __init__(self, patterns: PatternCompiler, globs: Sequence[str]) -> None:
        self._patterns = [
            patterns.compile(
                f"^/(?:{glob_regex(glob)})$", regex=True, case_sensitive=True, whole_word=False
            )
            for glob in globs
        ]

    def passing(self, rows: list["Row"]) -> list[bool]:
        """Tell which rows have a path that one of the patterns fits."""
        paths = [f"/{folded(row.path)}".encode() for row in rows]
        counts = [pattern.counts(paths, most=1) for pattern in self._patterns]
        return [any(each) for each in zip(*counts, strict=True)]


class OutOfTimeError(Exception):
    """The scan has taken as long as it may."""


class Scan:
    """What one scan asks of the shards of a session."""

    def __init__(
        self, session: ShardSession, scan: TextScan, patterns: PatternCompiler, clock: Clock
    ) -> None:
        self._session = session
        self._scan = scan
        self._clock = clock
        self._order = ScanOrder(scan)
        self._ends_at = clock.now() + timedelta(seconds=MAX_SCAN_SECONDS)
        self._pattern = (
            patterns.compile(
                scan.pattern,
                regex=scan.regex,
                case_sensitive=scan.case_sensitive,
                whole_word=scan.whole_word,
            )
            if scan.pattern
            else None
        )
        self._included = _Paths(patterns, scan.include_paths)
        self._excluded = _Paths(patterns, scan.exclude_paths)

    def page(self, limit: int, offset: int) -> ScanPage:
        """Return the hits of one page."""
        end = offset + limit
        best: list[Found] = []
        complete = False
        with suppress(OutOfTimeError):
            for shard in self._session.shards:
                worst = best[end] if len(best) > end else None
                best += self._session.ask(shard, partial(self._found, shard, worst), [])
                best = self._order.first(best, end + 1)
                self._look_at_clock()
            complete = True
        hits = [hit for each in best[offset:end] if (hit := self._hit(each)) is not None]
        return ScanPage(hits=hits, more=len(best) > end, complete=complete)

    def _found(
        self, shard: PresentShard, worst: Found | None, connection: sqlite3.Connection
    ) -> list[Found]:
        """Return the notes of one shard that are found, save those that come after `worst`."""
        found: list[Found] = []
        for rows in self._parts(connection, self._statement(shard, worst)):
            passing = self._passing(rows)
            found += [
                Found(shard, row._replace(text=b""), count)
                for row, count in zip(passing, self._counts(passing), strict=True)
                if count or not self._pattern
            ]
            self._look_at_clock()
        return found

    def _counts(self, rows: Sequence[Row]) -> list[int]:
        if self._pattern is None:
            return [0] * len(rows)
        return self._pattern.counts([row.text for row in rows], most=most_counted(self._scan))

    def _parts(self, connection: sqlite3.Connection, asked: Asked) -> Iterator[list[Row]]:
        """Yield what may be found, as much at once as one look at the clock is good for."""
        rows: list[Row] = []
        size = 0
        for each in connection.execute(*asked):
            row = Row(*each)
            rows.append(row)
            size += len(row.text)
            if size >= _BYTES_AT_ONCE or len(rows) >= _NOTES_AT_ONCE:
                yield rows
                rows, size = [], 0
        yield rows

    def _passing(self, rows: list[Row]) -> list[Row]:
        """Return the rows whose paths are asked for."""
        if self._scan.include_paths:
            rows = list(compress(rows, self._included.passing(rows)))
        if self._scan.exclude_paths:
            rows = list(compress(rows, map(not_, self._excluded.passing(rows))))
        return rows

    def _look_at_clock(self) -> None:
        if self._clock.now() > self._ends_at:
            raise OutOfTimeError

    def _statement(self, shard: PresentShard, worst: Found | None) -> Asked:
        """Return what selects the rows of a shard, and its values."""
        pattern = self._pattern
        conditions = note_queries.conditions_of(self._scan)
        if worst is not None:
            self._order.bound(conditions, shard, worst)
        if pattern is None:
            text, source = "x''", "notes"
        else:
            text = "CAST(coalesce(plain, text) AS BLOB)" if pattern.folds else "CAST(text AS BLOB)"
            source = "notes JOIN contents ON contents.note = notes.id"
        if pattern is not None and pattern.literals:
            conditions.add(
                "notes.id IN (SELECT rowid FROM trigrams WHERE trigrams MATCH ?)",
                _having(pattern.literals),
            )
        columns = f"path, size, created, modified, {text}"
        statement = f"SELECT {columns} FROM {source} WHERE {conditions}"  # noqa: S608  ours
        return statement, conditions.values

    def _hit(self, found: Found) -> ScanHit | None:
        vault, path = found.shard[0], found.row.path
        rows = self._session.ask(found.shard, partial(note_queries.by_path, paths=[path]), [])
        if not rows:
            return None
        text = self._session.ask(found.shard, partial(note_queries.text, path=path), None)
        matches = (
            line_matches(self._pattern, text, most=MAX_SCAN_MATCHES)
            if self._pattern and text
            else []
        )
        return ScanHit(
            note=note_queries.note_of(vault, rows[0]),
            occurrences=found.occurrences,
            matches=matches,
        )


def _having(ways: Sequence[Sequence[str]]) -> str:
    """Return what the full-text module finds the candidates by."""
    return " OR ".join(f"({' AND '.join(map(_quoted, _trigrams(way)))})" for way in ways)


def _trigrams(texts: Sequence[str]) -> list[str]:
    """Return some trigrams of these texts, spread over them."""
    every = list(
        dict.fromkeys(
            text[start : start + _TRIGRAM]
            for text in texts
            for start in range(len(text) - _TRIGRAM + 1)
        )
    )
    return every[:: -(-len(every) // _MAX_TRIGRAMS)]


def _quoted(trigram: str) -> str:
    return '"' + trigram.replace('"', '""') + '"'
