"""The lexical index of each vault: a fixed number of SQLite shards, kept in a `ShardStore`.

A document belongs to the shard that its path hashes to. A writer replaces whole shards, on the
condition that nobody else did since it read them. A reader looks up the ETags of all shards at
once, fetches those it has no copy of, and ranks over all of them.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Final

from archivolt.adapters.sqlite import shard_file, shard_notes
from archivolt.adapters.sqlite.shard_reader import ShardReader, in_parallel, shard_name
from archivolt.adapters.sqlite.shard_search import best_passages
from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.observability import failure, logger
from archivolt.ports.retrieval import Candidate, DocumentUpdate, Shard, ShardStore

# Of writers that meet at a shard one succeeds each time; more than this many do not meet.
_WRITES: Final = 20

Change = Callable[[sqlite3.Connection], bool]
"""Changes a shard, and tells whether anything changed."""


class SqliteTextIndex:
    """A `TextIndex` of SQLite shards.

    Args:
        shards: Where they are kept.
        reader: Reads them; of the same store.

    """

    def __init__(self, shards: ShardStore, reader: ShardReader) -> None:
        self._shards = shards
        self._reader = reader

    def apply(self, vault: VaultRef, updates: Sequence[DocumentUpdate]) -> None:
        """Put in the content of each document, each shard touched being written once.

        Raises:
            UnavailableError: `unavailable`: the store is, or other writers were always faster. Some
                shards may be written; repeating is safe.

        """
        by_shard: dict[str, list[DocumentUpdate]] = defaultdict(list)
        for update in updates:
            by_shard[shard_name(update.path)].append(update)
        self._change(
            vault,
            {name: partial(shard_file.write, updates=those) for name, those in by_shard.items()},
        )

    def remove_older(self, vault: VaultRef, current: Mapping[VaultPath, Generation]) -> None:
        """Take out the passages of documents that are older than these generations.

        Raises:
            UnavailableError: As `apply`.

        """
        by_shard: dict[str, dict[VaultPath, Generation]] = defaultdict(dict)
        for path, generation in current.items():
            by_shard[shard_name(path)][path] = generation
        self._change(
            vault,
            {
                name: partial(shard_file.remove_older, current=those)
                for name, those in by_shard.items()
            },
        )

    def search(
        self,
        vaults: Sequence[VaultRef],
        terms: Sequence[Sequence[str]],
        *,
        limit: int,
        prefix: str = "",
    ) -> list[Candidate]:
        """Return the passages best by BM25 over these vaults, best first."""
        groups = [group for group in terms if group]
        if not groups:
            return []
        with self._reader.session(vaults) as session:
            return best_passages(session, groups, limit=limit, prefix=prefix)

    def passages(self, vault: VaultRef, path: VaultPath, generation: Generation) -> list[Passage]:
        """Return the passages of one generation of a document, in order; empty if not held."""
        shard = self._shards.get(vault, shard_name(path))
        if shard is None:
            return []
        with closing(_unpacked(shard)) as connection:
            return shard_file.passages(connection, path, generation)

    def holds(self, vault: VaultRef, path: VaultPath, generation: Generation) -> int | None:
        """Return how many passages of a generation are held; None if it is not the newest held."""
        shard = self._shards.get(vault, shard_name(path))
        if shard is None:
            return None
        with closing(_unpacked(shard)) as connection:
            if shard_notes.generation(connection, path) != generation:
                return None
            return shard_file.count(connection, path, generation)

    def generations(self, vault: VaultRef) -> Iterator[tuple[VaultPath, Generation]]:
        """Yield every document held with each of its generations, one shard at a time."""
        for name in sorted(self._reader.etags(vault)):
            shard = self._shards.get(vault, name)
            if shard is not None:
                with closing(_unpacked(shard)) as connection:
                    yield from list(shard_file.generations(connection))

    def drop(self, vault: VaultRef) -> None:
        """Forget a vault."""
        self._shards.drop(vault)
        self._reader.forget(vault)

    def _change(self, vault: VaultRef, changes: Mapping[str, Change]) -> None:
        in_parallel(lambda item: self._rewrite(vault, *item), changes.items())

    def _rewrite(self, vault: VaultRef, name: str, change: Change) -> None:
        for _ in range(_WRITES):
            held = self._shards.get(vault, name)
            with closing(_unpacked(held)) as connection:
                if not change(connection):
                    return
                data = connection.serialize()
            try:
                self._shards.put(vault, name, data, replacing=held)
            except ConflictError:
                continue
            return
        raise UnavailableError("unavailable")


def _unpacked(shard: Shard | None) -> sqlite3.Connection:
    """Return a shard for reading and writing: an empty one where there is none, or a damaged one.

    What a damaged shard held comes back with the next reconciliation.
    """
    if shard is not None:
        try:
            return shard_file.opened(shard.data)
        except sqlite3.DatabaseError as error:
            logger.warning("a shard is damaged and made anew", extra=failure(error))
    return shard_file.opened(None)
