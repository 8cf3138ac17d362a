"""One shard of notes: what is known of each document, its tags, links and whole text.

Only the newest generation is kept. The text is kept once as it is and, where that differs, once
without accents; trigrams of the latter say which documents a search need not read.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Final

from archivolt.domain.folding import folded
from archivolt.domain.ingestion import Generation
from archivolt.domain.note_links import NoteLink, link_key
from archivolt.domain.paths import VaultPath, name_of
from archivolt.domain.unaccented import unaccented
from archivolt.ports.retrieval import DocumentUpdate, Rewritten

SCHEMA: Final = """
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, generation TEXT NOT NULL,
    folded TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL,
    size INTEGER NOT NULL, created REAL NOT NULL, modified REAL NOT NULL,
    title TEXT NOT NULL, tags TEXT NOT NULL
) STRICT;
CREATE INDEX notes_by_key ON notes (key);
CREATE TABLE tags (
    tag TEXT NOT NULL, note INTEGER NOT NULL, own INTEGER NOT NULL, PRIMARY KEY (tag, note)
) STRICT, WITHOUT ROWID;
CREATE TABLE links (
    note INTEGER NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
    target TEXT NOT NULL, heading TEXT NOT NULL, alias TEXT NOT NULL,
    starts INTEGER NOT NULL, ends INTEGER NOT NULL, PRIMARY KEY (note, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_key ON links (key);
CREATE TABLE contents (
    note INTEGER PRIMARY KEY, length INTEGER NOT NULL, text TEXT NOT NULL, plain TEXT
) STRICT;
CREATE VIRTUAL TABLE trigrams USING fts5 (
    text, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1'
);
"""


def generation(connection: sqlite3.Connection, path: VaultPath) -> Generation | None:
    """Return the generation of a note, None if it is not held."""
    row: tuple[Generation] | None = connection.execute(
        "SELECT generation FROM notes WHERE path = ?", (path,)
    ).fetchone()
    return row and row[0]


def generations(connection: sqlite3.Connection) -> list[tuple[VaultPath, Generation]]:
    """Return every note with its generation."""
    return connection.execute("SELECT path, generation FROM notes").fetchall()


def write(connection: sqlite3.Connection, updates: Sequence[DocumentUpdate]) -> bool:
    """Put in the note of each document, and tell whether anything changed.

    As with passages, older ones and removals of what is not there are left out.
    """
    connection.execute("BEGIN")
    written = [_write(connection, update) for update in updates]
    if _Written.OVER_TEXT in written:
        # The full-text module keeps the trigrams of what was taken out until it merges.
        connection.execute("INSERT INTO trigrams (trigrams) VALUES ('optimize')")
    connection.execute("COMMIT")
    return any(each is not _Written.NOT for each in written)


def touch(connection: sqlite3.Connection, written: Mapping[VaultPath, Rewritten]) -> bool:
    """Set the moments of notes of these generations, and tell whether that changed anything."""
    rows = [
        (each.created.timestamp(), each.modified.timestamp(), path, each.generation)
        for path, each in written.items()
    ]
    connection.execute("BEGIN")
    changed = connection.executemany(
        "UPDATE notes SET created = ?1, modified = ?2 WHERE path = ?3 AND generation = ?4"
        " AND (created <> ?1 OR modified <> ?2)",
        rows,
    ).rowcount
    connection.execute("COMMIT")
    return changed > 0


class _Written(Enum):
    """What an update did."""

    NOT = auto()
    WELL = auto()
    OVER_TEXT = auto()
    """Older text was taken out."""


def _write(connection: sqlite3.Connection, update: DocumentUpdate) -> _Written:
    held = generation(connection, update.path)
    if (held and held > update.generation) or (update.removed and not held):
        return _Written.NOT
    had_text = _remove(connection, update.path)
    if not update.removed:
        _add(connection, update)
    return _Written.OVER_TEXT if had_text else _Written.WELL


def _add(connection: sqlite3.Connection, update: DocumentUpdate) -> None:
    note, path = update.note, update.path
    number = connection.execute(
        "INSERT INTO notes (path, generation, folded, name, key, size, created, modified, title,"
        " tags) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(path, update.generation, folded(path), folded(name_of(path)), link_key(path)),
            *(note.size, note.created.timestamp(), note.modified.timestamp(), note.title),
            json.dumps(list(note.tags)),
        ),
    ).lastrowid
    connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", _tag_rows(number, note.tags))
    connection.executemany(
        "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _link_rows(number, note.links)
    )
    if note.text is not None:
        _add_text(connection, number, note.text)


def _remove(connection: sqlite3.Connection, path: VaultPath) -> bool:
    """Take out a note, if it is held, and tell whether it had text."""
    row: tuple[int, str | None] | None = connection.execute(
        "SELECT id, coalesce(plain, text) FROM notes LEFT JOIN contents ON note = id"
        " WHERE path = ?",
        (path,),
    ).fetchone()
    if row is None:
        return False
    number, plain = row
    if plain is not None:
        connection.execute(
            "INSERT INTO trigrams (trigrams, rowid, text) VALUES ('delete', ?, ?)",
            (number, plain.casefold()),
        )
    for table in ("tags", "links", "contents"):
        connection.execute(f"DELETE FROM {table} WHERE note = ?", (number,))  # noqa: S608  ours
    connection.execute("DELETE FROM notes WHERE id = ?", (number,))
    return plain is not None


def _add_text(connection: sqlite3.Connection, number: int | None, text: str) -> None:
    plain = unaccented(text)
    connection.execute(
        "INSERT INTO contents VALUES (?, ?, ?, ?)",
        (number, max(len(plain), len(text)), text, None if plain == text else plain),
    )
    connection.execute(
        "INSERT INTO trigrams (rowid, text) VALUES (?, ?)", (number, plain.casefold())
    )


def _tag_rows(number: int | None, tags: Sequence[str]) -> list[tuple[str, int | None, bool]]:
    """Return a note's tags, and those that they are nested in."""
    nesting = {tag[:end] for tag in tags for end in range(1, len(tag)) if tag[end] == "/"}
    return [(tag, number, tag in tags) for tag in sorted(nesting.union(tags))]


def _link_rows(number: int | None, links: Sequence[NoteLink]) -> list[tuple[object, ...]]:
    return [
        (
            *(number, place, link.key, link.kind.value, link.target, link.heading, link.alias),
            *(link.start, link.end),
        )
        for place, link in enumerate(links)
    ]
