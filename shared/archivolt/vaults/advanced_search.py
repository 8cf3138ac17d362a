"""Advanced search: the documents in which a text or a pattern occurs, filtered and sorted (O43).

It looks at every line, as `grep` does, and so finds what is no word. Needs neither vectors nor
keys. The index holds texts with their secrets masked: a pattern cannot spell a secret out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.folding import folded
from archivolt.domain.globs import path_globs
from archivolt.domain.limits import DEFAULT_SEARCH_LIMIT, MAX_MATCHED_LINES
from archivolt.domain.paths import VaultPath, vault_uri
from archivolt.domain.ranges import moment_range, size_range
from archivolt.domain.vault import ETag, VaultAccess
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.notes import (
    Between,
    LineMatch,
    NoteIndex,
    ScanHit,
    ScanSort,
    TextScan,
)
from archivolt.ports.patterns import PatternCompiler
from archivolt.vaults.current_notes import current_notes
from archivolt.vaults.excerpts import Excerpt, window_of
from archivolt.vaults.moved_notes import PathFilter, moved_notes

_DIRECTIONS: Final = {"asc": False, "desc": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvancedQuery:
    """What to look for; ranges, globs and the order as people write them.

    See `archivolt.domain.ranges` and `archivolt.domain.globs`. `sort` is a name of `ScanSort`,
    with `-` in front or with `asc` or `desc` behind. An empty `q` finds all that passes.
    """

    q: str = ""
    tag: str = ""
    sort: str = ""
    case_sensitive: bool = False
    whole_word: bool = False
    regex: bool = False
    include_paths: Sequence[str] = ()
    exclude_paths: Sequence[str] = ()
    created: str = ""
    modified: str = ""
    size: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedLine:
    """A line with occurrences; `line` counts from 1, `excerpt` is the line or a part of it."""

    line: int
    excerpt: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvancedHit:
    """A document found: how often, and the first lines."""

    vault: str
    path: VaultPath
    uri: str
    title: str
    etag: ETag
    size: int
    created: datetime
    modified: datetime
    tags: tuple[str, ...]
    occurrences: int
    lines: list[MatchedLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvancedHits:
    """One page; `next_offset` is None when there are no more. A page may have fewer than asked.

    Not `complete`: time ran out, and there may be more than was found.
    """

    hits: list[AdvancedHit]
    next_offset: int | None
    complete: bool = True


class AdvancedSearch:
    """Searches the text of the vaults it is given access to."""

    def __init__(
        self,
        index: NoteIndex,
        catalogue: Catalogue,
        files: FileStore,
        patterns: PatternCompiler,
        clock: Clock,
    ) -> None:
        self._index = index
        self._catalogue = catalogue
        self._files = files
        self._patterns = patterns
        self._clock = clock

    def search(
        self,
        vaults: Sequence[VaultAccess],
        query: AdvancedQuery,
        *,
        limit: int = DEFAULT_SEARCH_LIMIT,
        offset: int = 0,
    ) -> AdvancedHits:
        """Return the documents that pass the filters and have the text.

        Raises:
            InvalidRequestError: `invalid_pattern`, `invalid_date_range`, `invalid_size_range`
                or `invalid_sort`.
            UnavailableError: The index cannot be read.

        """
        scan = self._scan(query)
        names = {access.vault.ref: access.vault.name for access in vaults}
        if not names:
            return AdvancedHits(hits=[], next_offset=None)
        page = self._index.scan(list(names), scan, limit=limit, offset=offset)
        return AdvancedHits(
            hits=[
                _hit(hit, names[hit.note.vault], etag) for hit, etag in self._shown(page.hits, scan)
            ],
            next_offset=offset + limit if page.more else None,
            complete=page.complete,
        )

    def _shown(self, hits: Sequence[ScanHit], scan: TextScan) -> list[tuple[ScanHit, ETag]]:
        """Return the hits that are still so, what was moved in its new place if that passes."""
        entries = current_notes(self._catalogue, [hit.note for hit in hits])
        others = [hit.note for hit in hits if (hit.note.vault, hit.note.path) not in entries]
        moved = moved_notes(self._catalogue, self._files, others)
        passing = PathFilter(self._patterns, scan.include_paths, scan.exclude_paths)
        shown: list[tuple[ScanHit, ETag]] = []
        for hit in hits:
            key = hit.note.vault, hit.note.path
            entry, info = entries.get(key), moved.get(key)
            if entry:
                shown.append((hit, ETag(entry.etag)))
            elif info and passing.passes(info.path):
                note = replace(hit.note, path=info.path, size=info.size, modified=info.modified)
                shown.append((replace(hit, note=note), info.etag))
        return shown

    def _scan(self, query: AdvancedQuery) -> TextScan:
        now = self._clock.now()
        sort, descending = _order(query.sort)
        return TextScan(
            pattern=query.q,
            regex=query.regex,
            case_sensitive=query.case_sensitive,
            whole_word=query.whole_word,
            tag=query.tag,
            include_paths=path_globs(query.include_paths),
            exclude_paths=path_globs(query.exclude_paths),
            created=Between(**moment_range(query.created, now=now, parameter="created")._asdict()),
            modified=Between(
                **moment_range(query.modified, now=now, parameter="modified")._asdict()
            ),
            size=Between(**size_range(query.size, parameter="size")._asdict()),
            sort=sort,
            descending=descending,
        )


def _order(asked: str) -> tuple[ScanSort, bool | None]:
    """Read `modified`, `-modified`, `modified asc`, `modified:desc`; "" is by relevance."""
    words = folded(asked).replace(":", " ").replace("_", " ").split()
    descending = _DIRECTIONS[words.pop()] if words and words[-1] in _DIRECTIONS else None
    name = words[0] if len(words) == 1 else ""
    if name.startswith("-"):
        name, descending = name[1:], True
    if not asked.strip():
        return ScanSort.RELEVANCE, None
    if name not in list(ScanSort):
        raise InvalidRequestError("invalid_sort", expected=", ".join(ScanSort))
    return ScanSort(name), descending


def _hit(hit: ScanHit, vault: str, etag: ETag) -> AdvancedHit:
    note = hit.note
    return AdvancedHit(
        vault=vault,
        path=note.path,
        uri=vault_uri(vault, note.path),
        title=note.title,
        etag=etag,
        size=note.size,
        created=note.created,
        modified=note.modified,
        tags=note.tags,
        occurrences=hit.occurrences,
        lines=_lines(hit.matches),
    )


def _lines(matches: Sequence[LineMatch]) -> list[MatchedLine]:
    by_line = [list(group) for _, group in groupby(matches, key=lambda match: match.line)]
    return [
        MatchedLine(
            line=of_line[0].line,
            excerpt=window_of(of_line[0].text, [(match.start, match.end) for match in of_line]),
        )
        for of_line in by_line[:MAX_MATCHED_LINES]
    ]
