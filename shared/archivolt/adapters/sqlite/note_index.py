"""The notes of vaults, asked in the shards that `SqliteTextIndex` writes."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from heapq import nsmallest

from archivolt.adapters.sqlite import note_queries
from archivolt.adapters.sqlite.kept_answers import KeptAnswers
from archivolt.adapters.sqlite.note_scan import Scan
from archivolt.adapters.sqlite.shard_family import NOTES
from archivolt.adapters.sqlite.shard_pool import PresentShard
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.domain.folding import folded
from archivolt.domain.note_links import NoteLink
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.clock import Clock
from archivolt.ports.notes import (
    LinkedKeys,
    Note,
    NoteFilter,
    RecentBy,
    ScanPage,
    TagCount,
    TextScan,
)
from archivolt.ports.patterns import PatternCompiler


class SqliteNoteIndex:
    """A `NoteIndex`.

    Args:
        reader: Reads the shards.
        patterns: Makes what a scan looks for; only asked for when there is a scan.
        clock: Ends a scan that takes too long.

    """

    def __init__(
        self, reader: ShardReader, patterns: Callable[[], PatternCompiler], clock: Clock
    ) -> None:
        self._reader = reader
        self._patterns = patterns
        self._clock = clock
        self._kept = KeptAnswers()

    def notes(self, vault: VaultRef, paths: Sequence[VaultPath]) -> Mapping[VaultPath, Note]:
        """Return the notes at these paths that are known."""
        with self._reader.session([vault], set(map(NOTES.name_of, paths))) as session:
            rows = session.ask_all(partial(note_queries.by_path, paths=paths))
        return {row[0]: note_queries.note_of(vault, row) for _, row in rows}

    def passing(
        self, vaults: Sequence[VaultRef], wanted: NoteFilter
    ) -> Mapping[VaultRef, Collection[VaultPath]]:
        """Return the paths of all documents of each vault that pass a filter."""
        found: dict[VaultRef, set[VaultPath]] = {vault: set() for vault in vaults}
        with self._reader.session(vaults, NOTES.names) as session:
            for shard, path in session.ask_all(partial(note_queries.passing, wanted=wanted)):
                found[shard[0]].add(path)
        return found

    def text(self, vault: VaultRef, path: VaultPath) -> str | None:
        """Return the whole text of a document; None if it is not known or has none."""
        with self._reader.session([vault], {NOTES.name_of(path)}) as session:
            ask = partial(note_queries.text, path=path)
            return next((session.ask(shard, ask, None) for shard in session.shards), None)

    def texts(self, vault: VaultRef, paths: Sequence[VaultPath]) -> Mapping[VaultPath, str]:
        """Return the texts of those of these documents that are known and have one."""
        with self._reader.session([vault], set(map(NOTES.name_of, paths))) as session:
            rows = session.ask_all(partial(note_queries.texts, paths=paths))
        return {VaultPath(path): text for _, (path, text) in rows}

    def tags(self, vaults: Sequence[VaultRef]) -> Mapping[str, TagCount]:
        """Return every tag with its documents counted; also those that only nest others."""
        with self._reader.session(vaults, NOTES.names) as session:
            return self._kept.merged(session, note_queries.tags, _tag_counts)

    def recent(self, vaults: Sequence[VaultRef], *, by: RecentBy, limit: int) -> list[Note]:
        """Return the newest documents first."""
        with self._reader.session(vaults, NOTES.names) as session:
            found = session.ask_all(partial(note_queries.recent, by=by, limit=limit))
        found.sort(key=lambda item: (item[0][0].id, item[1][0]))
        found.sort(
            key=lambda item: item[1][4] if by is RecentBy.MODIFIED else item[1][3], reverse=True
        )
        return [note_queries.note_of(shard[0], row) for shard, row in found[:limit]]

    def find_paths(
        self, vaults: Sequence[VaultRef], words: Sequence[str], *, limit: int
    ) -> list[Note]:
        """Return documents whose path contains every word, case and accents folded."""
        wanted = [folded(word) for word in words]
        with self._reader.session(vaults, NOTES.names) as session:
            found = session.ask_all(partial(note_queries.paths, words=wanted, limit=limit))
        found.sort(key=lambda item: (*item[1][:2], item[0][0].id, item[1][2][0]))
        return [note_queries.note_of(shard[0], row) for shard, (_, _, row) in found[:limit]]

    def named(self, vault: VaultRef, keys: Sequence[str]) -> list[VaultPath]:
        """Return the paths that a link of these keys may mean."""
        with self._reader.session([vault], NOTES.names) as session:
            rows = session.ask_all(partial(note_queries.named, keys=keys))
        return sorted(path for _, path in rows)

    def links_to(self, vault: VaultRef, keys: Sequence[str]) -> list[tuple[VaultPath, NoteLink]]:
        """Return the links, with the documents they stand in, whose `key` is one of these."""
        with self._reader.session([vault], NOTES.names) as session:
            return _in_order(session.ask_all(partial(note_queries.links_to, keys=keys)))

    def links_from(
        self, vault: VaultRef, paths: Sequence[VaultPath] | None
    ) -> list[tuple[VaultPath, NoteLink]]:
        """Return the links of these documents; of all for None."""
        names = NOTES.names if paths is None else set(map(NOTES.name_of, paths))
        with self._reader.session([vault], names) as session:
            return _in_order(session.ask_all(partial(note_queries.links_from, sources=paths)))

    def most_linked(self, vault: VaultRef, *, limit: int) -> LinkedKeys:
        """Return the link keys with the most links, those to and those from their files."""
        with self._reader.session([vault], NOTES.names) as session:
            counts = self._kept.merged(session, note_queries.linked_keys, _link_counts)
        most = nsmallest(limit, counts, key=lambda key: (-counts[key], key))
        return LinkedKeys(keys=most, total=len(counts))

    def scan(
        self, vaults: Sequence[VaultRef], scan: TextScan, *, limit: int, offset: int = 0
    ) -> ScanPage:
        """Return the documents in which the pattern occurs.

        Raises:
            InvalidRequestError: `invalid_pattern`.

        """
        with self._reader.session(vaults, NOTES.names) as session:
            return Scan(session, scan, self._patterns(), self._clock).page(limit, offset)


def _tag_counts(rows: Iterable[tuple[str, int, int]]) -> Mapping[str, TagCount]:
    own: Counter[str] = Counter()
    nested: Counter[str] = Counter()
    for tag, owners, documents in rows:
        own[tag] += owners
        nested[tag] += documents
    return {tag: TagCount(own=own[tag], nested=count) for tag, count in nested.items()}


def _link_counts(rows: Iterable[tuple[str, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for key, links in rows:
        counts[key] += links
    return counts


def _in_order(
    found: Sequence[tuple[PresentShard, tuple[VaultPath, NoteLink]]],
) -> list[tuple[VaultPath, NoteLink]]:
    return sorted((row for _, row in found), key=lambda row: (row[0], row[1].start))
