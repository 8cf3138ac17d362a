"""One shard of passages: a SQLite database with documents, their passages and postings.

It knows SQL and nothing of where the database came from. A document is there even without
passages, so that an older one does not come after it.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from archivolt.adapters.sqlite import shard_postings
from archivolt.adapters.sqlite.shard_postings import PostingsWriter
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.ports.retrieval import DocumentUpdate

SCHEMA: Final = f"""{shard_postings.SCHEMA}
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
"""


_PASSAGES: Final = """
SELECT passages.id, generation, number, text, headings, page, line, path
FROM documents JOIN passages ON document = documents.id JOIN texts ON passage = passages.id
"""
_PLACES: Final = """
SELECT passages.id, path, number FROM documents JOIN passages ON document = documents.id
"""
# Host parameters of one statement: SQLite takes at least 999.
_AT_ONCE: Final = 500

PlaceRow = tuple[int, str, int]
"""A passage's id, the path of its document, and its number there."""
FoundRow = tuple[int, str, Generation, Passage]
"""A passage's id, the path and generation of its document, and the passage."""
_PassageRow = tuple[int, Generation, int, str, str, int | None, int | None, str]


def write(connection: sqlite3.Connection, updates: Sequence[DocumentUpdate]) -> bool:
    """Put in the passages of each document, and tell whether anything changed.

    An update of an older generation than the one held is left out, and so is the removal of what is
    not there.
    """
    connection.execute("BEGIN")
    writer = _Writer(connection)
    changed = [writer.write(update) for update in updates]
    writer.finish()
    connection.execute("COMMIT")
    return any(changed)


def remove_older(connection: sqlite3.Connection, current: Mapping[VaultPath, Generation]) -> bool:
    """Take out the passages that are older than these generations; tell whether there were any."""
    connection.execute("BEGIN")
    writer = _Writer(connection)
    removed = [writer.remove_below(*item) for item in current.items()]
    writer.finish()
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


def places_by_id(connection: sqlite3.Connection, ids: Sequence[int]) -> list[PlaceRow]:
    """Return where passages stand, by their ids."""
    return _by_id(connection, _PLACES, ids)


def found_by_id(connection: sqlite3.Connection, ids: Sequence[int]) -> list[FoundRow]:
    """Return passages with their paths and generations, by their ids."""
    rows = _by_id(connection, _PASSAGES, ids)
    return [(row[0], row[7], row[1], _passage(row)) for row in rows]


def ids_below(connection: sqlite3.Connection, prefix: str) -> set[int]:
    """Return the ids of the passages of documents at or below a path."""
    rows = connection.execute(
        "SELECT passages.id FROM documents JOIN passages ON document = documents.id"
        " WHERE path = ? OR (path >= ? AND path < ?)",
        (prefix, f"{prefix}/", f"{prefix}0"),  # "0" comes after "/"
    )
    return {each for (each,) in rows}


def ids_of(connection: sqlite3.Connection, paths: Collection[VaultPath]) -> set[int]:
    """Return the ids of the passages of these documents, those of them that are here."""
    rows = connection.execute(
        "SELECT passages.id FROM json_each(?) AS asked"
        " JOIN documents ON documents.path = asked.value JOIN passages ON document = documents.id",
        (json.dumps(list(paths), ensure_ascii=False),),
    )
    return {each for (each,) in rows}


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


def _by_id(connection: sqlite3.Connection, statement: str, ids: Sequence[int]) -> list[Any]:
    rows: list[Any] = []
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        places = ", ".join("?" * len(some))
        rows += connection.execute(f"{statement} WHERE passages.id IN ({places})", some)
    return rows


def _passage(row: _PassageRow) -> Passage:
    _, _, number, text, headings, page, line, _ = row
    titles = tuple(json.loads(headings))
    return Passage(number=number, text=text, headings=titles, page=page, line=line)


class _Writer:
    """Changes the documents of a shard one by one, and their postings together."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._postings = PostingsWriter(connection)
        # An id that is freed is not given again by the same write: its postings may still be there.
        (self._last,) = connection.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()

    def finish(self) -> None:
        """Write the postings."""
        self._postings.finish()

    def write(self, update: DocumentUpdate) -> bool:
        """Put in a document's passages, and tell whether that changed anything."""
        held = newest(self._connection, update.path)
        if (held and held > update.generation) or (update.removed and not held):
            return False
        if not update.passages:
            # Nobody asks for older passages any more: the catalogue has moved already.
            self.remove_below(update.path, update.generation)
        self._remove(update.path, update.generation)
        if not update.removed:
            self._add(update)
        return True

    def remove_below(self, path: VaultPath, generation: Generation) -> bool:
        """Take out a document's older generations; tell whether there were any."""
        older: list[tuple[Generation]] = self._connection.execute(
            "SELECT generation FROM documents WHERE path = ? AND generation < ?", (path, generation)
        ).fetchall()
        for (each,) in older:
            self._remove(path, each)
        return bool(older)

    def _remove(self, path: VaultPath, generation: Generation) -> None:
        held: tuple[int] | None = self._connection.execute(
            "SELECT id FROM documents WHERE path = ? AND generation = ?", (path, generation)
        ).fetchone()
        if held is None:
            return
        gone = self._connection.execute("SELECT id FROM passages WHERE document = ?", held)
        self._postings.remove(passage for (passage,) in gone)
        for statement in (
            "DELETE FROM texts WHERE passage IN (SELECT id FROM passages WHERE document = ?)",
            "DELETE FROM passages WHERE document = ?",
            "DELETE FROM documents WHERE id = ?",
        ):
            self._connection.execute(statement, held)

    def _add(self, update: DocumentUpdate) -> None:
        document = self._connection.execute(
            "INSERT INTO documents (path, generation) VALUES (?, ?)",
            (update.path, update.generation),
        ).lastrowid
        for indexed in update.passages:
            passage, length = indexed.passage, sum(indexed.terms.values())
            self._last += 1
            self._connection.execute(
                "INSERT INTO passages VALUES (?, ?, ?, ?)",
                (self._last, document, passage.number, length),
            )
            self._connection.execute(
                "INSERT INTO texts VALUES (?, ?, ?, ?, ?)",
                (
                    *(self._last, passage.text, json.dumps(passage.headings)),
                    *(passage.page, passage.line),
                ),
            )
            self._postings.add(self._last, indexed.terms, length)
