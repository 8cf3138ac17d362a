"""The lexical index of each vault: a fixed number of SQLite shards, kept in a `ShardStore`.

A document belongs to the shard that its path hashes to. A writer replaces whole shards, on the
condition that nobody else did since it read them. A reader looks up the ETags of all shards at
once, fetches those it has no copy of, and ranks over all of them.
"""

import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Final, TypeVar

from archivolt.adapters.sqlite import shard_file
from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_pool import PresentShard, ShardPool
from archivolt.adapters.sqlite.shard_search import ShardSearch
from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.limits import LEXICAL_SHARDS
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, VaultRef
from archivolt.observability import failure, logger
from archivolt.ports.retrieval import Candidate, DocumentUpdate, Shard, ShardStore

# Of writers that meet at a shard one succeeds each time; more than this many do not meet.
_WRITES: Final = 20
_THREADS: Final = 16

T = TypeVar("T")
R = TypeVar("R")


class SqliteTextIndex:
    """A `TextIndex` of SQLite shards.

    Args:
        shards: Where they are kept.
        cache: Opens them for reading; of the same store.

    """

    def __init__(self, shards: ShardStore, cache: ShardCache) -> None:
        self._shards = shards
        self._cache = cache
        self._pool = ShardPool(cache)

    def apply(self, vault: VaultRef, updates: Sequence[DocumentUpdate]) -> None:
        """Replace the content of each document, each shard touched being written once.

        Raises:
            UnavailableError: `unavailable`: the store is, or other writers were always faster. Some
                shards may be written; repeating is safe.

        """
        by_shard: dict[str, list[DocumentUpdate]] = defaultdict(list)
        for update in updates:
            by_shard[shard_name(update.path)].append(update)
        _in_parallel(lambda item: self._rewrite(vault, *item), by_shard.items())

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
        shards = self._fetched(vaults)
        with ShardSearch(self._pool, shards) as search:
            found = search.best(groups, limit=limit, prefix=prefix)
        if self._cache.trim():
            self._pool.close_idle()
        return found

    def passages(self, vault: VaultRef, path: VaultPath, generation: Generation) -> list[Passage]:
        """Return the passages of one generation of a document, in order; empty if not held."""
        shard = self._shards.get(vault, shard_name(path))
        if shard is None:
            return []
        with closing(_unpacked(shard)) as connection:
            return shard_file.passages(connection, path, generation)

    def generations(self, vault: VaultRef) -> Iterator[tuple[VaultPath, Generation]]:
        """Yield every document held with its generation, one shard at a time."""
        for name in sorted(self._present(vault)):
            shard = self._shards.get(vault, name)
            if shard is not None:
                with closing(_unpacked(shard)) as connection:
                    yield from list(shard_file.generations(connection))

    def drop(self, vault: VaultRef) -> None:
        """Forget a vault."""
        self._shards.drop(vault)
        self._pool.close_idle(vault)
        self._cache.forget(vault)

    def _rewrite(self, vault: VaultRef, name: str, updates: Sequence[DocumentUpdate]) -> None:
        for _ in range(_WRITES):
            held = self._shards.get(vault, name)
            with closing(_unpacked(held)) as connection:
                if not shard_file.write(connection, updates):
                    return
                data = connection.serialize()
            try:
                self._shards.put(vault, name, data, replacing=held)
            except ConflictError:
                continue
            return
        raise UnavailableError("unavailable")

    def _present(self, vault: VaultRef) -> dict[str, ETag]:
        etags = self._shards.etags(vault)
        return {name: etag for name, etag in etags.items() if name in _NAMES}

    def _fetched(self, vaults: Sequence[VaultRef]) -> list[PresentShard]:
        """Return the shards of these vaults, each with a copy to read."""
        listed = zip(vaults, _in_parallel(self._present, vaults), strict=True)
        shards = [(vault, name, etag) for vault, names in listed for name, etag in names.items()]
        missing = [shard for shard in shards if not self._cache.holds(*shard)]
        fetched = dict(
            zip(
                missing, _in_parallel(lambda shard: self._cache.fetch(*shard), missing), strict=True
            )
        )
        return [
            (vault, name, present)
            for vault, name, etag in shards
            if (present := fetched.get((vault, name, etag), etag))
        ]


def shard_name(path: VaultPath) -> str:
    """Return the name of the shard a document belongs to."""
    return _numbered(zlib.crc32(path.encode()) % LEXICAL_SHARDS)


def _numbered(number: int) -> str:
    return f"{shard_file.FORMAT}-{number:02d}"


_NAMES: Final = frozenset(map(_numbered, range(LEXICAL_SHARDS)))


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


def _in_parallel(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return the results in order; the first error is raised once all are done."""
    todo = list(items)
    if len(todo) <= 1:
        return [function(item) for item in todo]
    with ThreadPoolExecutor(min(_THREADS, len(todo))) as pool:
        return list(pool.map(function, todo))
