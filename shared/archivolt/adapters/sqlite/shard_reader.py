"""What reads shards: it knows which there are now, and puts question after question to them."""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Final, TypeVar

from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_pool import PresentShard, ShardPool
from archivolt.domain.errors import UnavailableError
from archivolt.domain.vault import VaultRef
from archivolt.observability import failure, logger
from archivolt.ports.retrieval import ShardStore

_THREADS: Final = 16
# A function may have 1,024 files open; shards beyond these are opened for each question anew.
_MAX_TAKEN: Final = 400

T = TypeVar("T")
R = TypeVar("R")


class ShardReader:
    """Opens sessions in which shards are asked.

    Args:
        shards: Where they are kept.
        cache: Opens them for reading; of the same store.

    """

    def __init__(self, shards: ShardStore, cache: ShardCache) -> None:
        self._shards = shards
        self._cache = cache
        self._pool = ShardPool(cache)

    def session(self, vaults: Sequence[VaultRef], names: Collection[str]) -> "ShardSession":
        """Return the shards of these names, of these vaults, as they are now.

        Raises:
            UnavailableError: `unavailable`: the store is, or the folder of copies is full.

        """
        listed = zip(vaults, in_parallel(self._shards.etags, vaults), strict=True)
        shards = [
            (vault, name, etag)
            for vault, etags in listed
            for name, etag in etags.items()
            if name in names
        ]
        return ShardSession(self._pool, self._fetched(shards))

    def forget(self, vault: VaultRef) -> None:
        """Forget what is kept of a vault."""
        self._pool.close_idle(vault)
        self._cache.forget(vault)

    def _fetched(self, shards: Sequence[PresentShard]) -> list[PresentShard]:
        """Return these shards, each with a copy to read."""
        missing = [shard for shard in shards if not self._cache.holds(*shard)]
        if missing:
            self._pool.trim()
        try:
            present = in_parallel(lambda shard: self._cache.fetch(*shard), missing)
        except UnavailableError:
            # It may be that the folder was full.
            if not self._pool.trim():
                raise
            present = in_parallel(lambda shard: self._cache.fetch(*shard), missing)
        fetched = dict(zip(missing, present, strict=True))
        return [
            (vault, name, held)
            for vault, name, etag in shards
            if (held := fetched.get((vault, name, etag), etag))
        ]


class ShardSession:
    """Shards to ask, as of one moment. Use as a context: its end gives them back."""

    def __init__(self, pool: ShardPool, shards: Sequence[PresentShard]) -> None:
        self._pool = pool
        self._taken: dict[PresentShard, sqlite3.Connection] = {}
        self.shards = shards

    def __enter__(self) -> "ShardSession":
        return self

    def __exit__(self, *error: object) -> None:
        for shard, connection in self._taken.items():
            self._pool.give_back(shard, connection)
        self._pool.trim()

    def ask_all(
        self, question: Callable[[sqlite3.Connection], Sequence[R]]
    ) -> list[tuple[PresentShard, R]]:
        """Return what the shards answer, each answer with its shard."""
        return [(shard, row) for shard in self.shards for row in self.ask(shard, question, [])]

    def ask(
        self, shard: PresentShard, question: Callable[[sqlite3.Connection], R], nothing: R
    ) -> R:
        """Return a shard's answer, or `nothing` where it is gone or damaged."""
        try:
            if shard in self._taken:
                return question(self._taken[shard])
            connection = self._pool.take(shard)
            if connection is None:
                return nothing
            if len(self._taken) < _MAX_TAKEN:
                self._taken[shard] = connection
                return question(connection)
            with closing(connection):
                return question(connection)
        except sqlite3.DatabaseError as error:
            logger.warning("a damaged shard is left out of a search", extra=failure(error))
            return nothing


def in_parallel(
    function: Callable[[T], R], items: Iterable[T], *, at_once: int = _THREADS
) -> list[R]:
    """Return the results in order; the first error is raised once all are done."""
    todo = list(items)
    if len(todo) <= 1:
        return [function(item) for item in todo]
    with ThreadPoolExecutor(min(at_once, len(todo))) as pool:
        return list(pool.map(function, todo))
