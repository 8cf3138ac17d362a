"""The lexical index of each vault: a fixed number of SQLite shards, kept in a `ShardStore`.

A document belongs to the shard that its path hashes to. A writer replaces whole shards, on the
condition that nobody else did since it read them. A reader looks up the ETags of all shards at
once, fetches those it has no copy of, and ranks over all of them.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from sqlite3 import Connection
from threading import Semaphore
from typing import Final, NamedTuple, TypeVar

from archivolt.adapters.sqlite import shard_file, shard_notes
from archivolt.adapters.sqlite.shard_family import FAMILIES, NOTES, PASSAGES, ShardFamily
from archivolt.adapters.sqlite.shard_reader import ShardReader, in_parallel
from archivolt.adapters.sqlite.shard_search import best_passages
from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import (
    Candidate,
    DocumentUpdate,
    Rewritten,
    ShardStore,
    Within,
)

# Of writers that meet at a shard one succeeds each time; more than this many do not meet.
_WRITES: Final = 20
# Shards wait side by side for their store; one that is changed is in memory three times over.
# Nobody waits for many: then fewer wait, since the allocator keeps a hole of their size for each.
_WRITTEN_AT_ONCE: Final = 8
_WRITTEN_IN_BULK: Final = 2
_BULK_FROM: Final = 32
_CHANGED_AT_ONCE: Final = 2

_NOBODYS: Final = Generation("0000000000000000-unequal")

Change = Callable[[Connection], bool]
"""Changes a shard, and tells whether anything changed."""
R = TypeVar("R")


class _Rewrite(NamedTuple):
    """A shard to be written anew, and how."""

    family: ShardFamily
    name: str
    change: Change


def _writing(
    family: ShardFamily, updates: Sequence[DocumentUpdate], overtaken: set[VaultPath]
) -> Change:
    """Return what puts updates in, and adds to `overtaken` of which something newer is held."""

    def change(connection: Connection) -> bool:
        for update in updates:
            held = family.newest(connection, update.path)
            if held is not None and held > update.generation:
                overtaken.add(update.path)
        return family.write(connection, updates)

    return change


def _changed(opened: Connection, change: Change) -> bytes | None:
    """Return a shard as it is after a change; None if that changed nothing."""
    with closing(opened) as connection:
        return connection.serialize() if change(connection) else None


class SqliteTextIndex:
    """A `TextIndex` of SQLite shards.

    Args:
        shards: Where they are kept.
        reader: Reads them; of the same store.

    """

    def __init__(self, shards: ShardStore, reader: ShardReader) -> None:
        self._shards = shards
        self._reader = reader
        self._changing = Semaphore(_CHANGED_AT_ONCE)

    def apply(self, vault: VaultRef, updates: Sequence[DocumentUpdate]) -> Collection[VaultPath]:
        """Put in the content of each document, each shard touched being written once.

        Raises:
            UnavailableError: `unavailable`: the store is, or other writers were always faster. Some
                shards may be written; repeating is safe.

        """
        changes: list[_Rewrite] = []
        overtaken = set[VaultPath]()
        for family in FAMILIES:
            by_shard: dict[str, list[DocumentUpdate]] = defaultdict(list)
            for update in updates:
                by_shard[family.name_of(update.path)].append(update)
            changes += [
                _Rewrite(family, name, _writing(family, those, overtaken))
                for name, those in by_shard.items()
            ]
        at_once = _WRITTEN_AT_ONCE if len(changes) < _BULK_FROM else _WRITTEN_IN_BULK
        in_parallel(lambda change: self._rewrite(vault, *change), changes, at_once=at_once)
        return overtaken

    def touch(self, vault: VaultRef, written: Mapping[VaultPath, Rewritten]) -> None:
        """Say when documents were written again as they were.

        Raises:
            UnavailableError: As `apply`.

        """
        by_shard: dict[str, dict[VaultPath, Rewritten]] = defaultdict(dict)
        for path, each in written.items():
            by_shard[NOTES.name_of(path)][path] = each
        in_parallel(
            lambda item: self._rewrite(
                vault, NOTES, item[0], partial(shard_notes.touch, written=item[1])
            ),
            by_shard.items(),
            at_once=_WRITTEN_AT_ONCE,
        )

    def remove_older(self, vault: VaultRef, current: Mapping[VaultPath, Generation]) -> None:
        """Take out the passages of documents that are older than these generations.

        Raises:
            UnavailableError: As `apply`.

        """
        by_shard: dict[str, dict[VaultPath, Generation]] = defaultdict(dict)
        for path, generation in current.items():
            by_shard[PASSAGES.name_of(path)][path] = generation
        in_parallel(
            lambda item: self._rewrite(
                vault, PASSAGES, item[0], partial(shard_file.remove_older, current=item[1])
            ),
            by_shard.items(),
            at_once=_WRITTEN_AT_ONCE,
        )

    def search(
        self,
        vaults: Sequence[VaultRef],
        terms: Sequence[Sequence[str]],
        *,
        limit: int,
        prefix: str = "",
        within: Within | None = None,
    ) -> list[Candidate]:
        """Return the passages best by BM25 over these vaults, best first."""
        groups = [group for group in terms if group]
        if not groups:
            return []
        with self._reader.session(vaults, PASSAGES.names) as session:
            return best_passages(session, groups, limit=limit, prefix=prefix, within=within)

    def passages(self, vault: VaultRef, path: VaultPath, generation: Generation) -> list[Passage]:
        """Return the passages of one generation of a document, in order; empty if not held."""
        name = PASSAGES.name_of(path)
        ask = partial(shard_file.passages, path=path, generation=generation)
        return self._asked(vault, PASSAGES, name, ask) or []

    def holds(self, vault: VaultRef, path: VaultPath, generation: Generation) -> int | None:
        """Return how many passages of a generation are held; None if it is not the newest held."""
        note = partial(shard_notes.generation, path=path)
        if self._asked(vault, NOTES, NOTES.name_of(path), note) != generation:
            return None
        count = partial(shard_file.count, path=path, generation=generation)
        return self._asked(vault, PASSAGES, PASSAGES.name_of(path), count)

    def generations(self, vault: VaultRef) -> Iterator[tuple[VaultPath, Generation]]:
        """Yield every document held with each of its generations, one shard at a time.

        One of which passages and note are not of the same generation, since a crash came between
        them, is told with a generation that is nobody's.
        """
        for passages_name, notes_name in zip(PASSAGES.names, NOTES.names, strict=True):
            passages = self._asked(vault, PASSAGES, passages_name, shard_file.generations) or []
            notes = self._asked(vault, NOTES, notes_name, shard_notes.generations) or []
            unequal = {path for path, _ in dict(passages).items() ^ dict(notes).items()}
            yield from (each for each in passages if each[0] not in unequal)
            yield from ((path, _NOBODYS) for path in unequal)

    def remove_former(self, vault: VaultRef) -> None:
        """Remove the shards of earlier formats."""
        for name in self._shards.etags(vault):
            if any(family.has_former(name) for family in FAMILIES):
                self._shards.remove(vault, name)

    def drop(self, vault: VaultRef) -> None:
        """Forget a vault."""
        self._shards.drop(vault)
        self._reader.forget(vault)

    def _asked(
        self, vault: VaultRef, family: ShardFamily, name: str, question: Callable[[Connection], R]
    ) -> R | None:
        """Return the answer of a shard as it is in the store; None where there is no shard."""
        shard = self._shards.get(vault, name)
        if shard is None:
            return None
        with closing(family.opened(shard)) as connection:
            return question(connection)

    def _rewrite(self, vault: VaultRef, family: ShardFamily, name: str, change: Change) -> None:
        for _ in range(_WRITES):
            held = self._shards.get(vault, name)
            known = held and replace(held, data=b"")
            with self._changing:
                opened = family.opened(held)
                # What was read was copied, and would stay beside what is written.
                del held
                data = _changed(opened, change)
            if data is None:
                return
            try:
                self._shards.put(vault, name, data, replacing=known)
            except ConflictError:
                continue
            return
        raise UnavailableError("unavailable")
