"""The two kinds of shards, and how a file of each is opened.

What ranks passages reads nothing of notes, and the other way round: apart, each is fetched only
where it is asked for. A document is in the shard of the same number in both.
"""

import re
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from archivolt.adapters.sqlite import shard_file, shard_notes
from archivolt.domain.ingestion import Generation
from archivolt.domain.limits import LEXICAL_SHARDS
from archivolt.domain.paths import VaultPath
from archivolt.observability import failure, logger
from archivolt.ports.retrieval import DocumentUpdate, Shard

# Deleted text is overwritten and free pages are given back: what was removed is gone.
_FRESH: Final = "PRAGMA auto_vacuum = FULL;"


@dataclass(frozen=True, slots=True)
class ShardFamily:
    """A kind of shards.

    `format` begins their names. It changes with the schema: shards of another format are not read
    and are made anew. The schemas need SQLite 3.37 with FTS5, which every build of Python has.
    """

    format: str
    schema: str
    write: Callable[[sqlite3.Connection, Sequence[DocumentUpdate]], bool]
    newest: Callable[[sqlite3.Connection, VaultPath], Generation | None]

    @property
    def names(self) -> list[str]:
        """The names of all shards."""
        return [self._numbered(number) for number in range(LEXICAL_SHARDS)]

    def name_of(self, path: VaultPath) -> str:
        """Return the name of the shard a document belongs to."""
        return self._numbered(zlib.crc32(path.encode()) % LEXICAL_SHARDS)

    def opened(self, shard: Shard | None) -> sqlite3.Connection:
        """Return a shard in memory: an empty one where there is none, or a damaged one.

        Its `serialize` gives the bytes. What a damaged shard held comes back with the next
        reconciliation.
        """
        if shard is not None:
            try:
                return _in_memory(shard.data)
            except sqlite3.DatabaseError as error:
                logger.warning("a shard is damaged and made anew", extra=failure(error))
        connection = _in_memory(None)
        connection.executescript(_FRESH + self.schema)
        return connection

    def has_former(self, name: str) -> bool:
        """Tell whether a file is a shard of an earlier format; one of a later one is not ours."""
        kind, number = self.format[0], int(self.format[1:])
        found = re.fullmatch(rf"{kind}(\d+)-\d\d", name)
        return found is not None and int(found[1]) < number

    def _numbered(self, number: int) -> str:
        return f"{self.format}-{number:02d}"


PASSAGES: Final = ShardFamily("v3", shard_file.SCHEMA, shard_file.write, shard_file.newest)
NOTES: Final = ShardFamily("n1", shard_notes.SCHEMA, shard_notes.write, shard_notes.generation)
FAMILIES: Final = (PASSAGES, NOTES)


def _in_memory(data: bytes | None) -> sqlite3.Connection:
    """Return a database; an empty one for None.

    Raises:
        sqlite3.DatabaseError: The bytes are none.

    """
    if data is not None and not data:
        raise sqlite3.DatabaseError("empty")
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        if data is not None:
            connection.deserialize(data)
            connection.execute("SELECT * FROM sqlite_master LIMIT 1").fetchone()
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection
