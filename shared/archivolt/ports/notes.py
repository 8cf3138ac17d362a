"""What a vault's documents say of themselves: text, tags, links, dates.

The tools that find files without asking a model stand on it (O38, O41, O43-O47). It needs neither
vectors nor keys, and knows of a change as soon as the change's event was processed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from archivolt.domain.ingestion import Generation
from archivolt.domain.note_links import NoteLink
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A document as the index knows it. `size` in bytes; `tags` without `#`, folded, nested by `/`.

    Documents without text (images, unknown formats) are notes too, without tags or links.
    """

    vault: VaultRef
    path: VaultPath
    generation: Generation
    size: int
    created: datetime
    modified: datetime
    title: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TagCount:
    """How many documents have a tag themselves (`own`), and how many it or one below (`nested`)."""

    own: int
    nested: int


class RecentBy(StrEnum):
    """Which moment makes a document recent."""

    MODIFIED = "modified"
    CREATED = "created"


class ScanSort(StrEnum):
    """The order of what a scan finds; a tie goes by vault and path."""

    RELEVANCE = "relevance"
    """The most occurrences first."""
    PATH = "path"
    MODIFIED = "modified"
    CREATED = "created"
    SIZE = "size"


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A closed range; None is open."""

    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextScan:
    """Which documents a scan looks at, and what for.

    Unless `case_sensitive`, case and accents are folded on both sides (`creer` finds `Créer`).
    An empty `pattern` finds every document that passes the filters. Globs match the whole path
    inside the vault (`**` crosses directories, `*` and `?` do not). `created` and `modified` are
    epoch seconds, `size` bytes. `descending` None: newest, largest, most occurrences first; paths
    ascending.
    """

    pattern: str
    regex: bool = False
    case_sensitive: bool = False
    whole_word: bool = False
    tag: str = ""
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    created: Between = Between()
    modified: Between = Between()
    size: Between = Between()
    sort: ScanSort = ScanSort.RELEVANCE
    descending: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFilter:
    """What documents must be: with this tag or one below it, of these endings, of this time.

    Empty is any. `endings` are folded, without a dot; `modified` is in epoch seconds.
    """

    tag: str = ""
    endings: tuple[str, ...] = ()
    modified: Between = Between()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMatch:
    """An occurrence: its line, counted from 1, the line's text, and where in it (characters)."""

    line: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanHit:
    """A document found: how often (an expression counts up to 50), and its first occurrences."""

    note: Note
    occurrences: int
    matches: Sequence[LineMatch]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedKeys:
    """Link keys, the most linked first; `total` is how many have any link."""

    keys: Sequence[str]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPage:
    """One page of hits; `more` tells whether others follow.

    Not `complete`: the time for a scan ran out, and there may be more than was found.
    """

    hits: Sequence[ScanHit]
    more: bool
    complete: bool = True


class NoteIndex(Protocol):
    """Asks the notes of vaults. May raise UnavailableError. Passes `tests/contract`.

    A note is of the newest generation written, which the catalogue may name a moment later; one
    whose document is deleted may be there a moment longer. `TextIndex.apply` writes them.
    """

    def notes(self, vault: VaultRef, paths: Sequence[VaultPath]) -> Mapping[VaultPath, Note]:
        """Return the notes at these paths that are known."""
        ...

    def passing(
        self, vaults: Sequence[VaultRef], wanted: NoteFilter
    ) -> Mapping[VaultRef, Collection[VaultPath]]:
        """Return the paths of all documents of each vault that pass a filter."""
        ...

    def text(self, vault: VaultRef, path: VaultPath) -> str | None:
        r"""Return the whole text of a document; None if it is not known or has none.

        It is in NFC, has `\n` line breaks and its secrets masked; links stand in this text.
        """
        ...

    def texts(self, vault: VaultRef, paths: Sequence[VaultPath]) -> Mapping[VaultPath, str]:
        """Return the texts of those of these documents that are known and have one; see `text`."""
        ...

    def tags(self, vaults: Sequence[VaultRef]) -> Mapping[str, TagCount]:
        """Return every tag with its documents counted; also those that only nest others."""
        ...

    def recent(self, vaults: Sequence[VaultRef], *, by: RecentBy, limit: int) -> list[Note]:
        """Return the newest documents first."""
        ...

    def find_paths(
        self, vaults: Sequence[VaultRef], words: Sequence[str], *, limit: int
    ) -> list[Note]:
        """Return documents whose path contains every word, case and accents folded.

        The whole name first, then names that start with a word, then the shortest paths. Without
        words, any documents.
        """
        ...

    def named(self, vault: VaultRef, keys: Sequence[str]) -> list[VaultPath]:
        """Return the paths that a link of these keys may mean (`note_links.link_key` of each)."""
        ...

    def links_to(self, vault: VaultRef, keys: Sequence[str]) -> list[tuple[VaultPath, NoteLink]]:
        """Return the links, with the documents they stand in, whose `key` is one of these."""
        ...

    def links_from(
        self, vault: VaultRef, paths: Sequence[VaultPath] | None
    ) -> list[tuple[VaultPath, NoteLink]]:
        """Return the links of these documents; of all for None."""
        ...

    def most_linked(self, vault: VaultRef, *, limit: int) -> LinkedKeys:
        """Return the link keys with the most links, those to and those from their files."""
        ...

    def scan(
        self, vaults: Sequence[VaultRef], scan: TextScan, *, limit: int, offset: int = 0
    ) -> ScanPage:
        """Return the documents in which the pattern occurs.

        Raises:
            InvalidRequestError: `invalid_pattern`: no regular expression, or one of a kind that
                cannot be matched in linear time (look-around, back-references).

        """
        ...
