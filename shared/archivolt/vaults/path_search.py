"""Files and directories by the words of their paths (O44)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from archivolt.domain.folding import folded
from archivolt.domain.limits import DEFAULT_SEARCH_LIMIT, MAX_PATH_CANDIDATES
from archivolt.domain.paths import VaultPath, name_of, parents_of, vault_uri
from archivolt.domain.vault import ETag, VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.notes import Note, NoteIndex
from archivolt.vaults.current_notes import current_notes

_BETWEEN_WORDS: Final = re.compile(r"[\s/_.,;:()-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPath:
    """A file, or a directory: then what is known of files only is None."""

    vault: str
    path: VaultPath
    directory: bool
    uri: str
    title: str | None = None
    etag: ETag | None = None
    size: int | None = None
    modified: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPaths:
    """One page, best first; `next_offset` is None when there are no more."""

    found: list[FoundPath]
    next_offset: int | None


class _Place(NamedTuple):
    """A file or, without a note, a directory; `rank` orders them, best first."""

    vault: VaultRef
    path: VaultPath
    note: Note | None
    rank: tuple[int, bool, int, str]


class PathSearch:
    """Searches the paths of the vaults it is given access to."""

    def __init__(self, index: NoteIndex, catalogue: Catalogue) -> None:
        self._index = index
        self._catalogue = catalogue

    def search(
        self,
        vaults: Sequence[VaultAccess],
        q: str,
        *,
        limit: int = DEFAULT_SEARCH_LIMIT,
        offset: int = 0,
    ) -> FoundPaths:
        """Return the files and directories whose paths have every word of `q`.

        A word may be any part of a name; case and accents do not matter. If nothing has all of
        them as they are written, they are taken apart at punctuation. Names come before the
        directories they are in: the whole name, its beginning, all words in it, some of them.

        Raises:
            UnavailableError: The index cannot be read.

        """
        names = {access.vault.ref: access.vault.name for access in vaults}
        places = self._places(list(names), q) if names else []
        page = places[offset : offset + limit]
        entries = current_notes(self._catalogue, [p.note for p in page if p.note])
        return FoundPaths(
            found=[
                _found(place, names[place.vault], ETag(entry.etag) if entry else None)
                for place in page
                if (entry := entries.get((place.vault, place.path))) or not place.note
            ],
            next_offset=offset + limit if len(places) > offset + limit else None,
        )

    def _places(self, refs: Sequence[VaultRef], q: str) -> list[_Place]:
        for words in (folded(q).split(), _BETWEEN_WORDS.split(folded(q))):
            wanted = [word for word in words if word]
            if not wanted:
                continue
            notes = self._index.find_paths(refs, wanted, limit=MAX_PATH_CANDIDATES)
            if notes:
                places = sorted(_all_places(notes, wanted), key=lambda place: place.rank)
                return places[:MAX_PATH_CANDIDATES]
        return []


def _all_places(notes: Sequence[Note], words: Sequence[str]) -> Iterable[_Place]:
    """Yield the notes, and the directories above them that suit by themselves."""
    yield from (_place(note.vault, note.path, words, note) for note in notes)
    above = {(note.vault, parent) for note in notes for parent in parents_of(note.path)}
    for vault, path in above:
        name = folded(name_of(path))
        if any(w in name for w in words) and all(w in folded(path) for w in words):
            yield _place(vault, path, words, None)


def _place(vault: VaultRef, path: VaultPath, words: Sequence[str], note: Note | None) -> _Place:
    suits = _rank(folded(name_of(path)), words)
    return _Place(vault, path, note, (suits, note is not None, len(path), path))


def _rank(name: str, words: Sequence[str]) -> int:
    """Return how well a folded name suits, best first."""
    if " ".join(words) in {name, name.rpartition(".")[0]}:
        return 0
    inside = [word in name for word in words]
    if all(inside):
        return 1 if name.startswith(words[0]) else 2
    return 3 if any(inside) else 4


def _found(place: _Place, vault: str, etag: ETag | None) -> FoundPath:
    note = place.note
    return FoundPath(
        vault=vault,
        path=place.path,
        directory=note is None,
        uri=vault_uri(vault, place.path),
        title=note.title if note else None,
        etag=etag,
        size=note.size if note else None,
        modified=note.modified if note else None,
    )
