"""The links of a Markdown note: wikilinks, embeds, Markdown links (Obsidian's kinds)."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from archivolt.domain.markdown_destinations import Definition, Destination, Quoting, unescaped
from archivolt.domain.markdown_links import WIKI, Autolink, InlineLink, LinkScanner, Wikilink
from archivolt.domain.markdown_prose import front_matter_end, prose_of


class LinkKind(StrEnum):
    """How a link is written."""

    WIKI = "wiki"
    """`[[target#heading|alias]]`."""
    EMBED = "embed"
    """`![[target]]`."""
    MARKDOWN = "markdown"
    """`[text](target.md#heading)`, also `![alt](image.png)` and `[label]: target.md`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLink:
    """A link as it stands in a text.

    `target` is what it names, decoded, without heading and alias; `heading` what follows `#`;
    `start` and `end` are the characters of the whole link. A link inside the same note has an
    empty target. Links to other places (`https:`) are none.
    """

    kind: LinkKind
    target: str
    heading: str
    alias: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """What the link is looked up by."""
        return link_key(self.target)


class WrittenLink(NamedTuple):
    """A link, and the characters of its target as they are written, without the heading."""

    link: NoteLink
    start: int
    end: int
    quoting: Quoting


def link_key(path: str) -> str:
    """Return what a file and the links that may mean it have in common.

    It is the last name, folded, without `.md`: resolution then decides among the candidates.
    """
    name = unicodedata.normalize("NFC", path).rpartition("/")[2].casefold()
    return name.removesuffix(".md")


def links_in(text: str) -> list[NoteLink]:
    """Return the links of a Markdown text, in order.

    Those in code, HTML comments and formulas are none; those in quoted strings of the front matter
    are. It takes time in proportion to the text, whatever that is.
    """
    return [written.link for written in written_links(text)]


def written_links(text: str) -> list[WrittenLink]:
    """Return the links of a Markdown text, in order, with where their targets stand."""
    if "[" not in text:
        return []
    end = front_matter_end(text) or int(text.startswith("\ufeff"))
    links = list(_front_matter_links(text, end))
    for prose in prose_of(text, end):
        if text.find("[", prose.start, prose.end) >= 0:
            scanned = LinkScanner(text, prose, notes=True).links()
            found = [link for each in scanned if (link := _note_link(text, each))]
            links += sorted(found, key=lambda each: each.link.start)
    return links


_YAML_STRING: Final = re.compile(
    r"""(?:^|(?<=[\s\[{,]))(?:\#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:''|[^'\n])*')""", re.MULTILINE
)
_YAML_ESCAPE: Final = re.compile(r'\\(["\\/])')
_ELSEWHERE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ELSEWHERE_WIKI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def _front_matter_links(text: str, end: int) -> Iterator[WrittenLink]:
    for string in _YAML_STRING.finditer(text, 0, end):
        single = string[0].startswith("'")
        for match in WIKI.finditer(text, string.start(), string.end()):
            quoting = Quoting.SINGLE_QUOTED if single else Quoting.DOUBLE_QUOTED
            link = None if string[0].startswith("#") else _wikilink(match, quoting)
            if link is not None:
                yield link


def _note_link(
    text: str, found: Definition | InlineLink | Wikilink | Autolink
) -> WrittenLink | None:
    match found:
        case Wikilink():
            return _wikilink(found.match, Quoting.WIKI)
        case Definition():
            place = found.destination
            return _markdown_link(text, found.start, found.label, place, place.after)
        case InlineLink():
            place, alias = found.destination, text[found.text : found.text_end]
            return _markdown_link(text, found.start, alias, place, place.after)
        case Autolink():
            return None  # no note has a scheme


def _wikilink(match: re.Match[str], quoting: Quoting) -> WrittenLink | None:
    body, bar, alias = match[2].partition("|")
    if bar:
        body = body.removesuffix("\\")
    written, _, heading = body.partition("#")
    target = written.strip()
    if not (target or heading) or _ELSEWHERE_WIKI.match(target):
        return None
    start = match.start(2) + len(written) - len(written.lstrip())
    link = NoteLink(
        kind=LinkKind.EMBED if match[1] else LinkKind.WIKI,
        target=_of_yaml(target, quoting),
        heading=_of_yaml(heading.strip(), quoting),
        alias=_of_yaml(alias.strip(), quoting),
        start=match.start(),
        end=match.end(),
    )
    return WrittenLink(link, start, start + len(target), quoting)


def _of_yaml(text: str, quoting: Quoting) -> str:
    if quoting is Quoting.SINGLE_QUOTED:
        return text.replace("''", "'")
    return _YAML_ESCAPE.sub(r"\1", text) if quoting is Quoting.DOUBLE_QUOTED else text


def _markdown_link(
    text: str, start: int, alias: str, found: Destination, end: int
) -> WrittenLink | None:
    raw = text[found.start : found.end]
    written, _, heading = raw.partition("#")
    if not raw or _ELSEWHERE.match(raw):
        return None
    link = NoteLink(
        kind=LinkKind.MARKDOWN,
        target=unescaped(written),
        heading=unescaped(heading),
        alias=alias,
        start=start,
        end=end,
    )
    return WrittenLink(link, found.start, found.start + len(written), found.quoting)
