"""One scan: which notes have a pattern, how often, and where."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import compress
from operator import not_
from typing import Final, NamedTuple

from archivolt.adapters.sqlite import note_queries
from archivolt.adapters.sqlite.line_matches import line_matches
from archivolt.adapters.sqlite.shard_pool import PresentShard
from archivolt.adapters.sqlite.shard_reader import ShardSession
from archivolt.domain.folding import folded
from archivolt.domain.globs import glob_regex
from archivolt.domain.limits import MAX_OCCURRENCES, MAX_SCAN_MATCHES, MAX_SCAN_SECONDS
from archivolt.domain.paths import VaultPath
from archivolt.ports.clock import Clock
from archivolt.ports.notes import ScanHit, ScanPage, ScanSort, TextScan
from archivolt.ports.patterns import Pattern, PatternCompiler

# What is read before the clock is looked at again.
_BYTES_AT_ONCE: Final = 1_000_000
_NOTES_AT_ONCE: Final = 1_000
_MAX_TRIGRAMS: Final = 12
_TRIGRAM: Final = 3


class _Row(NamedTuple):
    """A note that may be found, with its text as patterns take it."""

    path: VaultPath
    size: int
    created: float
    modified: float
    text: bytes


class _Found(NamedTuple):
    """A note that was found."""

    shard: PresentShard
    row: _Row
    occurrences: int


class _Paths:
    """Patterns of whole paths."""

    def __init__(self, patterns: PatternCompiler, globs: Sequence[str]) -> None:
        self._patterns = [
            patterns.compile(
                f"^/(?:{glob_regex(glob)})$", regex=True, case_sensitive=True, whole_word=False
            )
            for glob in globs
        ]

    def passing(self, rows: list["_Row"]) -> list[bool]:
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
        self._statement, self._values = _statement(scan, self._pattern)

    def page(self, limit: int, offset: int) -> ScanPage:
        """Return the hits of one page."""
        found: list[_Found] = []
        complete = False
        with suppress(OutOfTimeError):
            for shard in self._session.shards:
                found += self._session.ask(shard, partial(self._found, shard), [])
                self._look_at_clock()
            complete = True
        self._sort(found)
        end = offset + limit
        hits = [hit for each in found[offset:end] if (hit := self._hit(each)) is not None]
        return ScanPage(hits=hits, more=len(found) > end, complete=complete)

    def _found(self, shard: PresentShard, connection: sqlite3.Connection) -> list[_Found]:
        """Return the notes of one shard that are found, without their texts."""
        found: list[_Found] = []
        for rows in self._parts(connection):
            passing = self._passing(rows)
            counts = (
                self._pattern.counts([row.text for row in passing], most=MAX_OCCURRENCES)
                if self._pattern
                else [0] * len(passing)
            )
            found += [
                _Found(shard, row._replace(text=b""), count)
                for row, count in zip(passing, counts, strict=True)
                if count or not self._pattern
            ]
            self._look_at_clock()
        return found

    def _parts(self, connection: sqlite3.Connection) -> Iterator[list[_Row]]:
        """Yield what may be found, as much at once as one look at the clock is good for."""
        rows: list[_Row] = []
        size = 0
        for each in connection.execute(self._statement, self._values):
            row = _Row(*each)
            rows.append(row)
            size += len(row.text)
            if size >= _BYTES_AT_ONCE or len(rows) >= _NOTES_AT_ONCE:
                yield rows
                rows, size = [], 0
        yield rows

    def _passing(self, rows: list[_Row]) -> list[_Row]:
        """Return the rows whose paths are asked for."""
        if self._scan.include_paths:
            rows = list(compress(rows, self._included.passing(rows)))
        if self._scan.exclude_paths:
            rows = list(compress(rows, map(not_, self._excluded.passing(rows))))
        return rows

    def _look_at_clock(self) -> None:
        if self._clock.now() > self._ends_at:
            raise OutOfTimeError

    def _sort(self, found: list[_Found]) -> None:
        found.sort(key=lambda each: (each.shard[0].id, each.row.path))
        scan = self._scan
        descending = scan.sort is not ScanSort.PATH if scan.descending is None else scan.descending
        found.sort(key=_KEYS[scan.sort], reverse=descending)

    def _hit(self, found: _Found) -> ScanHit | None:
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


_KEYS: Final[dict[ScanSort, Callable[[_Found], float | str]]] = {
    ScanSort.RELEVANCE: lambda found: found.occurrences,
    ScanSort.PATH: lambda found: found.row.path,
    ScanSort.MODIFIED: lambda found: found.row.modified,
    ScanSort.CREATED: lambda found: found.row.created,
    ScanSort.SIZE: lambda found: found.row.size,
}


def _statement(scan: TextScan, pattern: Pattern | None) -> tuple[str, list[object]]:
    """Return what selects the rows, and its values."""
    conditions = note_queries.conditions_of(scan)
    if pattern is None:
        text, source = "x''", "notes"
    else:
        text = "CAST(coalesce(plain, text) AS BLOB)" if pattern.folds else "CAST(text AS BLOB)"
        source = "notes JOIN contents ON contents.note = notes.id"
        if pattern.literals:
            conditions.add(
                "notes.id IN (SELECT rowid FROM trigrams WHERE trigrams MATCH ?)",
                _having(pattern.literals),
            )
    columns = f"path, size, created, modified, {text}"
    return f"SELECT {columns} FROM {source} WHERE {conditions}", conditions.values  # noqa: S608


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
