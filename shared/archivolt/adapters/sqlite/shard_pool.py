"""Shards that stay open between searches, since opening costs more than asking.

A connection is in the hands of one search at a time; two searches at once have two.
"""

import sqlite3
import weakref
from threading import Lock
from typing import Final

from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.domain.vault import ETag, VaultRef

PresentShard = tuple[VaultRef, str, ETag]

# A function may have 1,024 files open at once.
_MAX_IDLE: Final = 400

_Idle = dict[tuple[VaultRef, str], tuple[ETag, sqlite3.Connection]]


class ShardPool:
    """Lends connections to shards, each as of an ETag."""

    def __init__(self, cache: ShardCache) -> None:
        self._cache = cache
        self._idle: _Idle = {}
        self._lock = Lock()
        weakref.finalize(self, _close, self._idle)

    def take(self, shard: PresentShard) -> sqlite3.Connection | None:
        """Return a connection to a shard, as `ShardCache.open` does; it has to be given back."""
        vault, name, etag = shard
        with self._lock:
            held = self._idle.pop((vault, name), None)
        if held and held[0] == etag:
            return held[1]
        if held:
            held[1].close()
        return self._cache.open(vault, name, etag)

    def give_back(self, shard: PresentShard, connection: sqlite3.Connection) -> None:
        """Keep a connection for the next search; those not used for longest are closed."""
        vault, name, etag = shard
        with self._lock:
            surplus = [self._idle.pop((vault, name), None)]
            self._idle[vault, name] = (etag, connection)
            while len(self._idle) > _MAX_IDLE:
                surplus.append(self._idle.pop(next(iter(self._idle))))
        for held in surplus:
            if held:
                held[1].close()

    def trim(self) -> bool:
        """Trim the cache, and give back the space of what it removed; return whether it did."""
        removed = self._cache.trim()
        if removed:
            self.close_idle()
        return removed

    def close_idle(self, vault: VaultRef | None = None) -> None:
        """Close what is open and lent to nobody, of one vault or of all."""
        with self._lock:
            keys = [key for key in self._idle if vault in {key[0], None}]
            closing = {key: self._idle.pop(key) for key in keys}
        _close(closing)


def _close(idle: _Idle) -> None:
    while idle:
        _, (_, connection) = idle.popitem()
        connection.close()
