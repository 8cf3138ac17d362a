"""The notes that link to a file, each with the lines the links stand in (O38)."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archivolt.domain.limits import DEFAULT_SEARCH_LIMIT, MAX_SHOWN_LINKS
from archivolt.domain.note_links import LinkKind, NoteLink
from archivolt.domain.paths import VaultPath, vault_uri
from archivolt.domain.vault import ETag, FileInfo, VaultAccess
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.files import FileStore
from archivolt.ports.notes import NoteIndex
from archivolt.vaults.current_notes import current_notes
from archivolt.vaults.excerpts import Excerpt, window_of
from archivolt.vaults.link_graph import links_to

_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$|^ {0,3}(```|~~~)", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPlace:
    """A link where it stands: its line, counted from 1, the title above it, the text around.

    `target_heading` is the heading or block of the target that it leads to, if any.
    """

    kind: LinkKind
    line: int
    heading: str
    alias: str
    target_heading: str
    excerpt: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlink:
    """A note with links to the file: the first of them, and how many there are."""

    path: VaultPath
    uri: str
    title: str
    etag: ETag
    modified: datetime
    links: list[LinkPlace]
    links_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlinks:
    """One page of notes by path; `next_offset` is None when there are no more."""

    of: FileInfo
    notes: list[Backlink]
    total: int
    next_offset: int | None


class BacklinkService:
    """Finds what links to a file, in the same vault."""

    def __init__(self, index: NoteIndex, catalogue: Catalogue, files: FileStore) -> None:
        self._index = index
        self._catalogue = catalogue
        self._files = files

    def backlinks(
        self,
        access: VaultAccess,
        path: VaultPath,
        *,
        limit: int = DEFAULT_SEARCH_LIMIT,
        offset: int = 0,
    ) -> Backlinks:
        """Return the other notes whose wikilinks, embeds and Markdown links mean the file.

        Mentions of its name that are no links are not among them.

        Raises:
            NotFoundError: `file_not_found`.
            UnavailableError: The index cannot be read.

        """
        vault = access.vault.ref
        info = self._files.head(vault, path)
        links: dict[VaultPath, list[NoteLink]] = defaultdict(list)
        for found in links_to(self._index, vault, [path]):
            links[found.source].append(found.link)
        sources = sorted(links)
        page = sources[offset : offset + limit]
        notes = self._index.notes(vault, page)
        texts = self._index.texts(vault, page)
        entries = current_notes(self._catalogue, notes.values())
        return Backlinks(
            of=info,
            notes=[
                Backlink(
                    path=source,
                    uri=vault_uri(access.vault.name, source),
                    title=notes[source].title,
                    etag=ETag(entry.etag),
                    modified=notes[source].modified,
                    links=_places(texts.get(source, ""), links[source][:MAX_SHOWN_LINKS]),
                    links_total=len(links[source]),
                )
                for source in page
                if (entry := entries.get((vault, source)))
            ],
            total=len(sources),
            next_offset=offset + limit if len(sources) > offset + limit else None,
        )


def _places(text: str, links: Sequence[NoteLink]) -> list[LinkPlace]:
    headings = _headings(text)
    return [_place(text, link, headings) for link in links if link.end <= len(text)]


def _headings(text: str) -> list[tuple[int, str]]:
    """Return where the headings of a Markdown text stand, code blocks left out."""
    headings: list[tuple[int, str]] = []
    fence = ""
    for match in _HEADING.finditer(text):
        if match[2]:
            fence = "" if fence == match[2] else fence or match[2]
        elif not fence:
            headings.append((match.start(), match[1]))
    return headings


def _place(text: str, link: NoteLink, headings: Sequence[tuple[int, str]]) -> LinkPlace:
    start = text.rfind("\n", 0, link.start) + 1
    end = text.find("\n", link.end)
    line = text[start : end if end >= 0 else len(text)].removesuffix("\r")
    above = [title for position, title in headings if position <= link.start]
    return LinkPlace(
        kind=link.kind,
        line=text.count("\n", 0, link.start) + 1,
        heading=above[-1] if above else "",
        alias=link.alias,
        target_heading=link.heading,
        excerpt=window_of(line, [(link.start - start, link.end - start)]),
    )
