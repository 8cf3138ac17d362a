"""What the notes of one shard answer."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from archivolt.domain.ingestion import Generation
from archivolt.domain.note_links import LinkKind, NoteLink
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.notes import Between, Note, NoteFilter, RecentBy, TextScan

_NOTE: Final = "SELECT path, generation, size, created, modified, title, tags FROM notes"
_LINK: Final = (
    "SELECT path, kind, target, heading, alias, starts, ends"
    " FROM links JOIN notes ON notes.id = note"
)
_PATHS: Final = """
SELECT CASE WHEN name = ? OR (substr(name, 1, ?) = ? AND instr(substr(name, ?), '.') = 0) THEN 0
    WHEN {starts} THEN 1 ELSE 2 END, length(path),
    path, generation, size, created, modified, title, tags
FROM notes WHERE {has_all} ORDER BY 1, 2, path LIMIT ?
"""
# Host parameters of one statement: SQLite takes at least 999.
_AT_ONCE: Final = 500

NoteRow = tuple[VaultPath, Generation, int, float, float, str, str]
Ranked = tuple[int, int, NoteRow]
"""How a path fits, its length, and its note."""


def note_of(vault: VaultRef, row: NoteRow) -> Note:
    """Return a row as a note."""
    path, generation, size, created, modified, title, tags = row
    return Note(
        vault=vault,
        path=VaultPath(path),
        generation=Generation(generation),
        size=size,
        created=datetime.fromtimestamp(created, UTC),
        modified=datetime.fromtimestamp(modified, UTC),
        title=title,
        tags=tuple(json.loads(tags)),
    )


def by_path(connection: sqlite3.Connection, paths: Sequence[VaultPath]) -> list[NoteRow]:
    """Return the notes at these paths."""
    return _in_parts(connection, f"{_NOTE} WHERE path IN ({{}})", paths)


def passing(connection: sqlite3.Connection, wanted: NoteFilter) -> list[VaultPath]:
    """Return the paths of the notes that pass a filter."""
    conditions = Conditions()
    _add_tag(conditions, wanted.tag)
    _add_range(conditions, "modified", wanted.modified)
    if wanted.endings:
        endings = [f".{ending}" for ending in wanted.endings]
        conditions.add(
            " OR ".join(["substr(name, -length(?)) = ?"] * len(endings)).join("()"),
            *(value for ending in endings for value in (ending, ending)),
        )
    rows = connection.execute(
        f"SELECT path FROM notes WHERE {conditions}",  # noqa: S608  ours
        conditions.values,
    )
    return [VaultPath(path) for (path,) in rows]


def text(connection: sqlite3.Connection, path: VaultPath) -> str | None:
    """Return the text of a note."""
    row: tuple[str] | None = connection.execute(
        "SELECT text FROM contents JOIN notes ON notes.id = note WHERE path = ?", (path,)
    ).fetchone()
    return row and row[0]


def texts(connection: sqlite3.Connection, paths: Sequence[VaultPath]) -> list[tuple[str, str]]:
    """Return the paths and texts of those of these notes that have text."""
    statement = "SELECT path, text FROM contents JOIN notes ON notes.id = note WHERE path IN ({})"
    return _in_parts(connection, statement, paths)


def tags(connection: sqlite3.Connection) -> list[tuple[str, int, int]]:
    """Return the tags: how many notes have each, and how many have it or one below it."""
    return connection.execute("SELECT tag, sum(own), count(*) FROM tags GROUP BY tag").fetchall()


def recent(connection: sqlite3.Connection, by: RecentBy, limit: int) -> list[NoteRow]:
    """Return the newest notes first."""
    return connection.execute(
        f"{_NOTE} ORDER BY {by.value} DESC, path LIMIT ?", (limit,)
    ).fetchall()


def paths(connection: sqlite3.Connection, words: Sequence[str], limit: int) -> list[Ranked]:
    """Return the notes whose path has every word (folded), those that fit best first."""
    has_all = " AND ".join(["instr(folded, ?)"] * len(words)) or "1"
    starts = " OR ".join(["substr(name, 1, length(?)) = ?"] * len(words)) or "0"
    whole = " ".join(words)
    rows = connection.execute(
        _PATHS.format(starts=starts, has_all=has_all),
        (
            *(whole, len(whole) + 1, f"{whole}.", len(whole) + 2),
            *(value for word in words for value in (word, word)),
            *(*words, limit),
        ),
    )
    return [(row[0], row[1], row[2:]) for row in rows]


def named(connection: sqlite3.Connection, keys: Sequence[str]) -> list[VaultPath]:
    """Return the paths of these keys."""
    rows = _in_parts(connection, "SELECT path FROM notes WHERE key IN ({})", keys)
    return [VaultPath(row[0]) for row in rows]


def links_to(
    connection: sqlite3.Connection, keys: Sequence[str]
) -> list[tuple[VaultPath, NoteLink]]:
    """Return the links of these keys."""
    order = "ORDER BY path, number"
    rows = _in_parts(connection, f"{_LINK} WHERE links.key IN ({{}}) {order}", keys)
    return [_link_of(row) for row in rows]


def links_from(
    connection: sqlite3.Connection, sources: Sequence[VaultPath] | None
) -> list[tuple[VaultPath, NoteLink]]:
    """Return the links of these notes, of all for None."""
    order = "ORDER BY path, number"
    if sources is None:
        rows: list[Any] = connection.execute(f"{_LINK} {order}").fetchall()
    else:
        rows = _in_parts(connection, f"{_LINK} WHERE path IN ({{}}) {order}", sources)
    return [_link_of(row) for row in rows]


def linked_keys(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return the keys that links lead to and stand under, with how many; a key may come twice."""
    return connection.execute(
        "SELECT key, count(*) FROM links WHERE key <> '' GROUP BY key UNION ALL"
        " SELECT notes.key, count(*) FROM links JOIN notes ON notes.id = note"
        " WHERE links.key <> '' GROUP BY note"
    ).fetchall()


def _link_of(row: tuple[str, str, str, str, str, int, int]) -> tuple[VaultPath, NoteLink]:
    path, kind, target, heading, alias, start, end = row
    link = NoteLink(
        kind=LinkKind(kind), target=target, heading=heading, alias=alias, start=start, end=end
    )
    return VaultPath(path), link


def _in_parts(connection: sqlite3.Connection, statement: str, values: Sequence[str]) -> list[Any]:
    rows: list[Any] = []
    for start in range(0, len(values), _AT_ONCE):
        part = values[start : start + _AT_ONCE]
        places = ", ".join("?" * len(part))
        rows += connection.execute(statement.format(places), part).fetchall()
    return rows


@dataclass(slots=True)
class Conditions:
    """What follows WHERE, and its values."""

    clauses: list[str] = field(default_factory=list[str])
    values: list[object] = field(default_factory=list[object])

    def add(self, clause: str, *values: object) -> None:
        """Ask for something more."""
        self.clauses.append(clause)
        self.values += values

    def __str__(self) -> str:
        return " AND ".join(self.clauses) or "1"


def conditions_of(scan: TextScan) -> Conditions:
    """Return what a note must be for a scan to look at it, paths left aside."""
    conditions = Conditions()
    _add_tag(conditions, scan.tag)
    ranges: dict[str, Between] = {
        "created": scan.created,
        "modified": scan.modified,
        "size": scan.size,
    }
    for column, between in ranges.items():
        _add_range(conditions, column, between)
    return conditions


def _add_tag(conditions: Conditions, asked: str) -> None:
    tag = asked.strip().strip("#/").casefold()
    if tag:
        conditions.add("notes.id IN (SELECT note FROM tags WHERE tag = ?)", tag)


def _add_range(conditions: Conditions, column: str, between: Between) -> None:
    if between.least is not None:
        conditions.add(f"{column} >= ?", between.least)
    if between.most is not None:
        conditions.add(f"{column} <= ?", between.most)
