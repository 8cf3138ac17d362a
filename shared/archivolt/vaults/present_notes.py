"""The notes of a vault as they are now, where the index may be some seconds behind.

The index is told of a change by its event. Who renames a note right after writing a link to it
must not find that link broken: so the files that there are come from the store's listing, and what
was written lately is read. In a very large vault, or after a very large change, the index alone is
asked.
"""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from archivolt.domain.errors import NotFoundError
from archivolt.domain.limits import MAX_INLINE_CONTENT_BYTES, MAX_LIST_LIMIT, MAX_PARALLEL_FILES
from archivolt.domain.note_links import NoteLink, link_key, links_in
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import FileInfo, VaultRef
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.notes import Note, NoteIndex
from archivolt.vaults.content_types import NOTES, content_type_of
from archivolt.vaults.text_form import TextForm

# How long the index may take to learn of a change.
_LAG: Final = timedelta(minutes=15)
# The store tells moments in whole seconds: what is younger may be another version than it seems.
_SAME_MOMENT: Final = timedelta(seconds=2)
_MAX_PAGES: Final = 20
_MAX_LOOKED_UP: Final = 5_000
_MAX_FRESH: Final = 500

Links = list[tuple[VaultPath, NoteLink]]


class PresentNotes:
    """Asks one vault for files by name and for links; it looks once and remembers."""

    def __init__(self, files: FileStore, notes: NoteIndex, clock: Clock, vault: VaultRef) -> None:
        self._files = files
        self._notes = notes
        self._clock = clock
        self._vault = vault

    def named(self, keys: Collection[str]) -> Collection[VaultPath]:
        """Return the files that links of these keys may mean."""
        by_key = self._by_key
        if by_key is None:
            return self._notes.named(self._vault, list(keys))
        return [path for key in keys for path in by_key.get(key, ())]

    def links_to(self, keys: Sequence[str]) -> Links:
        """Return the links of these keys, with the notes they stand in."""
        known = self._notes.links_to(self._vault, keys)
        wanted = frozenset(keys)
        fresh = [(path, link) for path, link in self._fresh_links() if link.key in wanted]
        return self._still_so(known) + fresh

    def links_from(self, paths: Sequence[VaultPath]) -> Links:
        """Return the links of these notes."""
        known = self._notes.links_from(self._vault, paths)
        wanted = frozenset(paths)
        fresh = [(path, link) for path, link in self._fresh_links() if path in wanted]
        return self._still_so(known) + fresh

    def _still_so(self, links: Links) -> Links:
        """Return those links that the index may be right about."""
        there = None if self._listed is None else {info.path for info in self._listed}
        return [
            (path, link)
            for path, link in links
            if path not in self._fresh and (there is None or path in there)
        ]

    def _fresh_links(self) -> Links:
        return [(path, link) for path, links in self._fresh.items() for link in links]

    @cached_property
    def _listed(self) -> list[FileInfo] | None:
        """Every file of the vault; None if there are too many."""
        found: list[FileInfo] = []
        after: str | None = None
        for _ in range(_MAX_PAGES):
            page = self._files.list(
                self._vault, ROOT, recursive=True, limit=MAX_LIST_LIMIT, after=after
            )
            found += page.files
            after = page.next_after
            if after is None:
                return found
        return None

    @cached_property
    def _by_key(self) -> Mapping[str, list[VaultPath]] | None:
        if self._listed is None:
            return None
        by_key: dict[str, list[VaultPath]] = {}
        for info in self._listed:
            by_key.setdefault(link_key(info.path), []).append(info.path)
        return by_key

    @cached_property
    def _fresh(self) -> Mapping[VaultPath, list[NoteLink]]:
        """The links of the notes that were written lately and that the index does not know yet."""
        fresh = self._unknown_to_the_index()
        if not 0 < len(fresh) <= _MAX_FRESH:
            return {}
        with ThreadPoolExecutor(min(len(fresh), MAX_PARALLEL_FILES)) as pool:
            return dict(zip(fresh, pool.map(self._links_of, fresh), strict=True))

    def _unknown_to_the_index(self) -> list[VaultPath]:
        now = self._clock.now()
        late = [info for info in self._listed or () if _is_fresh(info, now - _LAG)]
        if len(late) > _MAX_LOOKED_UP:
            return []
        known = self._notes.notes(self._vault, [info.path for info in late])
        return [
            info.path
            for info in late
            if info.modified >= now - _SAME_MOMENT or not _is_known(info, known.get(info.path))
        ]

    def _links_of(self, path: VaultPath) -> list[NoteLink]:
        try:
            content = self._files.read(self._vault, path, max_bytes=MAX_INLINE_CONTENT_BYTES)
        except NotFoundError:
            return []
        form = TextForm.of(content.data)
        return links_in(form.text) if form else []


def _is_fresh(info: FileInfo, since: datetime) -> bool:
    return info.modified >= since and content_type_of(info.path) == NOTES


def _is_known(info: FileInfo, note: Note | None) -> bool:
    return (
        note is not None
        and note.size == info.size
        and int(note.modified.timestamp()) == int(info.modified.timestamp())
    )
