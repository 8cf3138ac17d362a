"""One shard of passages: a SQLite database with documents, their passages and postings.

It knows SQL and nothing of where the database came from. A document is there even without
passages, so that an older one does not come after it.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.ports.retrieval import DocumentUpdate

SCHEMA: Final = """
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


def write(connection: sqlite3.Connection, updates: Sequence[DocumentUpdate]) -> bool:
    """Put in the passages of each document, and tell whether anything changed.

    An update of an older generation than the one held is left out, and so is the removal of what is
    not there.
    """
    connection.execute("BEGIN")
    changed = [_write(connection, update) for update in updates]
    connection.execute("COMMIT")
    return any(changed)


def remove_older(connection: sqlite3.Connection, current: Mapping[VaultPath, Generation]) -> bool:
    """Take out the passages that are older than these generations; tell whether there were any."""
    connection.execute("BEGIN")
    removed = [_remove_below(connection, *item) for item in current.items()]
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


def count(connection: sqlite3.Connection, path: VaultPath, generation: Generation) -> int | None:
    """Return how many passages a generation of a document has; None if it is not the newest."""
    if newest(connection, path) != generation:
        return None
    (found,) = connection.execute(
        "SELECT count(*) FROM documents JOIN passages ON document = documents.id"
        " WHERE path = ? AND generation = ?",
        (path, generation),
    ).fetchone()
    return int(found)


def newest(connection: sqlite3.Connection, path: VaultPath) -> Generation | None:
    """Return the newest generation held of a document, None if there is none."""
    (generation,) = connection.execute(
        "SELECT max(generation) FROM documents WHERE path = ?", (path,)
    ).fetchone()
    return generation


def generations(connection: sqlite3.Connection) -> list[tuple[VaultPath, Generation]]:
    """Return every document with each of its generations, the newest last."""
    return connection.execute(
        "SELECT path, generation FROM documents ORDER BY generation"
    ).fetchall()


def _passage(row: _PassageRow) -> Passage:
    _, _, number, text, headings, page, line = row
    titles = tuple(json.loads(headings))
    return Passage(number=number, text=text, headings=titles, page=page, line=line)


def _write(connection: sqlite3.Connection, update: DocumentUpdate) -> bool:
    held = newest(connection, update.path)
    if (held and held > update.generation) or (update.removed and not held):
        return False
    if not update.passages:
        # Nobody asks for older passages any more: the catalogue has moved already.
        _remove_below(connection, update.path, update.generation)
    _remove(connection, update.path, update.generation)
    if not update.removed:
        _add(connection, update)
    return True


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
