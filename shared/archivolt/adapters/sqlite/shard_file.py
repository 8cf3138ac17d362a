"""One shard: a SQLite database with notes, their passages and the postings of their terms.

It knows SQL and nothing of where the database came from. The statements need SQLite 3.37 with
FTS5, which every build of Python has.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Final

from archivolt.adapters.sqlite import shard_notes
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.ports.retrieval import DocumentUpdate

FORMAT: Final = "v2"
"""Changes with the schema: shards of another format are not read and are made anew."""

# Deleted text is overwritten and free pages are given back: what was removed is gone.
_SCHEMA: Final = """
PRAGMA auto_vacuum = FULL;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, generation TEXT NOT NULL, UNIQUE (path, generation)
) STRICT;
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER NOT NULL,
    length INTEGER NOT NULL
) STRICT;
CREATE INDEX passages_of_document ON passages (document, number);
CREATE TABLE texts (
    passage INTEGER PRIMARY KEY, text TEXT NOT NULL, headings TEXT NOT NULL,
    page INTEGER, line INTEGER
) STRICT;
CREATE TABLE postings (
    term TEXT NOT NULL, passage INTEGER NOT NULL, occurrences INTEGER NOT NULL,
    PRIMARY KEY (term, passage)
) STRICT, WITHOUT ROWID;
"""


_PASSAGES: Final = """
SELECT passages.id, generation, number, text, headings, page, line
FROM documents JOIN passages ON document = documents.id JOIN texts ON passage = passages.id
"""
_PassageRow = tuple[int, Generation, int, str, str, int | None, int | None]


def opened(data: bytes | None) -> sqlite3.Connection:
    """Return a shard in memory, an empty one for None; its `serialize` gives the bytes.

    Raises:
        sqlite3.DatabaseError: The bytes are no shard.

    """
    if data is not None and not data:
        raise sqlite3.DatabaseError("empty")
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        if data is None:
            connection.executescript(_SCHEMA + shard_notes.SCHEMA)
        else:
            connection.deserialize(data)
        connection.execute("SELECT count(*) FROM documents")
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def write(connection: sqlite3.Connection, updates: Sequence[DocumentUpdate]) -> bool:
    """Put in the content of each document, and tell whether anything changed.

    An update of an older generation than the one held is left out, and so is the removal of what is
    not there.
    """
    connection.execute("BEGIN")
    written = [_write(connection, update) for update in updates]
    if _Written.WITHOUT_OLD_TEXT in written:
        shard_notes.tidy(connection)
    connection.execute("COMMIT")
    return any(each is not _Written.NOT for each in written)


def remove_older(connection: sqlite3.Connection, current: Mapping[VaultPath, Generation]) -> bool:
    """Take out the passages that are older than these generations; tell whether there were any."""
    connection.execute("BEGIN")
    removed = [_remove_below(connection, *item) for item in current.items()]
    if any(removed):
        shard_notes.tidy(connection)
    connection.execute("COMMIT")
    return any(removed)


def passages(
    connection: sqlite3.Connection, path: VaultPath, generation: Generation
) -> list[Passage]:
    """Return the passages of one generation of a document, in order."""
    rows = connection.execute(
        f"{_PASSAGES} WHERE path = ? AND generation = ? ORDER BY number", (path, generation)
    )
    return [_passage(row) for row in rows]


def passages_by_id(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> dict[int, tuple[Generation, Passage]]:
    """Return passages with their documents' generations, by their ids."""
    places = ", ".join("?" * len(ids))
    rows = connection.execute(f"{_PASSAGES} WHERE passages.id IN ({places})", ids)
    return {row[0]: (row[1], _passage(row)) for row in rows}


def count(connection: sqlite3.Connection, path: VaultPath, generation: Generation) -> int:
    """Return how many passages there are of one generation of a document."""
    (found,) = connection.execute(
        "SELECT count(*) FROM documents JOIN passages ON document = documents.id"
        " WHERE path = ? AND generation = ?",
        (path, generation),
    ).fetchone()
    return int(found)


def generations(connection: sqlite3.Connection) -> Iterator[tuple[VaultPath, Generation]]:
    """Yield every document with each of its generations."""
    yield from connection.execute(
        "SELECT path, generation FROM notes UNION SELECT path, generation FROM documents"
    )


def _passage(row: _PassageRow) -> Passage:
    _, _, number, text, headings, page, line = row
    titles = tuple(json.loads(headings))
    return Passage(number=number, text=text, headings=titles, page=page, line=line)


class _Written(Enum):
    """What an update did."""

    NOT = auto()
    WELL = auto()
    WITHOUT_OLD_TEXT = auto()
    """Text was taken out, and no `remove_older` will follow."""


def _write(connection: sqlite3.Connection, update: DocumentUpdate) -> _Written:
    held = shard_notes.generation(connection, update.path)
    if (held and held > update.generation) or (update.removed and not held):
        return _Written.NOT
    had_text = shard_notes.remove(connection, update.path)
    _remove(connection, update.path, update.generation)
    if not update.removed:
        shard_notes.add(connection, update)
    if update.passages:
        _add(connection, update)
        return _Written.WELL
    # Nobody asks for older passages any more: the catalogue has moved already.
    _remove_below(connection, update.path, update.generation)
    return _Written.WITHOUT_OLD_TEXT if had_text else _Written.WELL


def _remove_below(connection: sqlite3.Connection, path: VaultPath, generation: Generation) -> bool:
    older: list[tuple[Generation]] = connection.execute(
        "SELECT generation FROM documents WHERE path = ? AND generation < ?", (path, generation)
    ).fetchall()
    for (each,) in older:
        _remove(connection, path, each)
    return bool(older)


def _remove(connection: sqlite3.Connection, path: VaultPath, generation: Generation) -> None:
    held: tuple[int] | None = connection.execute(
        "SELECT id FROM documents WHERE path = ? AND generation = ?", (path, generation)
    ).fetchone()
    if held is None:
        return
    # Postings are stored by term: this reads them all, which costs less than a second index.
    for statement in (
        "DELETE FROM postings WHERE passage IN (SELECT id FROM passages WHERE document = ?)",
        "DELETE FROM texts WHERE passage IN (SELECT id FROM passages WHERE document = ?)",
        "DELETE FROM passages WHERE document = ?",
        "DELETE FROM documents WHERE id = ?",
    ):
        connection.execute(statement, held)


def _add(connection: sqlite3.Connection, update: DocumentUpdate) -> None:
    document = connection.execute(
        "INSERT INTO documents (path, generation) VALUES (?, ?)", (update.path, update.generation)
    ).lastrowid
    for indexed in update.passages:
        passage = indexed.passage
        number = connection.execute(
            "INSERT INTO passages (document, number, length) VALUES (?, ?, ?)",
            (document, passage.number, sum(indexed.terms.values())),
        ).lastrowid
        connection.execute(
            "INSERT INTO texts VALUES (?, ?, ?, ?, ?)",
            (number, passage.text, json.dumps(passage.headings), passage.page, passage.line),
        )
        connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)",
            ((term, number, occurrences) for term, occurrences in indexed.terms.items()),
        )
