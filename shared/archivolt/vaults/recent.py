"""The documents that were changed or came last (O47)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from archivolt.domain.ages import spoken_age
from archivolt.domain.ingestion import CatalogueEntry
from archivolt.domain.language import Language
from archivolt.domain.limits import DEFAULT_SEARCH_LIMIT
from archivolt.domain.paths import VaultPath, vault_uri
from archivolt.domain.vault import ETag, FileInfo, VaultAccess
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.notes import Note, NoteIndex, RecentBy
from archivolt.vaults.current_notes import NoteKey, current_notes
from archivolt.vaults.moved_notes import moved_notes


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentFile:
    """A document; `age` tells in words how long ago the moment is that makes it recent."""

    vault: str
    path: VaultPath
    uri: str
    title: str
    etag: ETag
    size: int
    created: datetime
    modified: datetime
    age: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentFiles:
    """One page, newest first; `next_offset` is None when there are no more."""

    files: list[RecentFile]
    next_offset: int | None


class RecentService:
    """Lists the newest documents of the vaults it is given access to."""

    def __init__(
        self, index: NoteIndex, catalogue: Catalogue, files: FileStore, clock: Clock
    ) -> None:
        self._index = index
        self._catalogue = catalogue
        self._files = files
        self._clock = clock

    def recent(
        self,
        vaults: Sequence[VaultAccess],
        *,
        by: RecentBy,
        language: Language,
        limit: int = DEFAULT_SEARCH_LIMIT,
        offset: int = 0,
    ) -> RecentFiles:
        """Return the newest documents first.

        Raises:
            UnavailableError: The index cannot be read.

        """
        names = {access.vault.ref: access.vault.name for access in vaults}
        if not names:
            return RecentFiles(files=[], next_offset=None)
        end = offset + limit
        found = self._index.recent(list(names), by=by, limit=end + 1)
        page = found[offset:end]
        places = self._places_of(page)
        now = self._clock.now()

        def file(note: Note, path: VaultPath, etag: str) -> RecentFile:
            moment = note.created if by is RecentBy.CREATED else note.modified
            return RecentFile(
                vault=names[note.vault],
                path=path,
                uri=vault_uri(names[note.vault], path),
                title=note.title,
                etag=ETag(etag),
                size=note.size,
                created=note.created,
                modified=note.modified,
                age=spoken_age(moment, now, language),
            )

        return RecentFiles(
            files=[
                file(note, shown.path, shown.etag)
                for note in page
                if (shown := places.get(_key(note)))
            ],
            next_offset=end if len(found) > end else None,
        )

    def _places_of(self, notes: Sequence[Note]) -> Mapping[NoteKey, CatalogueEntry | FileInfo]:
        """Return where those of these notes are that may be shown."""
        entries = current_notes(self._catalogue, notes)
        others = [note for note in notes if _key(note) not in entries]
        return {**moved_notes(self._catalogue, self._files, others), **entries}


def _key(note: Note) -> NoteKey:
    return note.vault, note.path
