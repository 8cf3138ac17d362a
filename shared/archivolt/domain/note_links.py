"""The links of a Markdown note: wikilinks, embeds, Markdown links (Obsidian's kinds)."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from archivolt.domain.markdown_destinations import (
    Destination,
    Quoting,
    definition_at,
    destination_at,
    unescaped,
)
from archivolt.domain.markdown_prose import Prose, front_matter_end, prose_of


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
            links += sorted(_Scanner(text, prose).links(), key=lambda found: found.link.start)
    return links


_WIKI: Final = re.compile(r"(!?)\[\[([^\[\]\r\n]+)\]\]")
_YAML_STRING: Final = re.compile(
    r"""(?:^|(?<=[\s\[{,]))(?:\#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:''|[^'\n])*')""", re.MULTILINE
)
_YAML_ESCAPE: Final = re.compile(r'\\(["\\/])')
_TOKEN: Final = re.compile(r"\\.|`+|<!--|\$|!?\[\[[^\[\]\r\n]+\]\]|!?\[|\]", re.DOTALL)
_TICKS: Final = re.compile(r"`+")
_FORMULA: Final = re.compile(r"\$(?![\s$])(?:\\.|[^$\\\r\n])*(?<!\s)\$(?!\d)")
_ELSEWHERE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ELSEWHERE_WIKI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def _front_matter_links(text: str, end: int) -> Iterator[WrittenLink]:
    for string in _YAML_STRING.finditer(text, 0, end):
        single = string[0].startswith("'")
        for match in _WIKI.finditer(text, string.start(), string.end()):
            quoting = Quoting.SINGLE_QUOTED if single else Quoting.DOUBLE_QUOTED
            link = None if string[0].startswith("#") else _wikilink(match, quoting)
            if link is not None:
                yield link


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


class _Opener(NamedTuple):
    start: int
    text: int
    image: bool


class _Scanner:
    """One pass over a stretch of prose."""

    def __init__(self, text: str, prose: Prose) -> None:
        self._text = text
        self._position, self._end = prose
        self._openers: list[_Opener] = []
        self._barrier = 0
        self._ticks: dict[int, list[int]] | None = None
        self._unclosed: set[str] = set()

    def links(self) -> Iterator[WrittenLink]:
        yield from self._definitions()
        while token := _TOKEN.search(self._text, self._position, self._end):
            self._position = token.end()
            link = self._read(token)
            if link is not None:
                yield link

    def _definitions(self) -> Iterator[WrittenLink]:
        while found := definition_at(self._text, self._position, self._end):
            self._position = found.next_line
            place = found.destination
            link = _markdown_link(self._text, found.start, found.label, place, place.after)
            if link is not None:
                yield link

    def _read(self, token: re.Match[str]) -> WrittenLink | None:
        mark = token[0]
        if mark.startswith("\\"):
            return None
        if mark == "]":
            return self._close(token.start())
        if mark.endswith("]]"):
            wiki = _WIKI.match(self._text, token.start())
            return _wikilink(wiki, Quoting.WIKI) if wiki else None
        if mark.endswith("["):
            self._openers.append(_Opener(token.start(), token.end(), mark == "!["))
        elif mark.startswith("`"):
            self._pass_code(token)
        elif mark == "<!--":
            self._pass_to("-->", token.end())
        elif mark == "$":
            self._pass_formula(token.start())
        return None

    def _close(self, position: int) -> WrittenLink | None:
        """Return the link whose text ends at `position`; a link holds no other, save images."""
        if not self._openers:
            return None
        opener = self._openers.pop()
        inside_a_link = len(self._openers) < self._barrier and not opener.image
        self._barrier = min(self._barrier, len(self._openers))
        if inside_a_link or not self._text.startswith("(", position + 1):
            return None
        found = destination_at(self._text, position + 1, self._end)
        if found is None:
            return None
        self._position = found.after
        if not opener.image:
            self._barrier = len(self._openers)
        alias = self._text[opener.text : position]
        return _markdown_link(self._text, opener.start, alias, found, found.after)

    def _pass_code(self, opening: re.Match[str]) -> None:
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self._text, opening.start(), self._end):
                self._ticks.setdefault(len(run[0]), []).append(run.start())
        same = self._ticks.get(len(opening[0]), [])
        closing = bisect_left(same, opening.end())
        if closing < len(same):
            self._position = same[closing] + len(opening[0])

    def _pass_formula(self, start: int) -> None:
        if self._text.startswith("$$", start):
            self._pass_to("$$", start + 2)
        elif formula := _FORMULA.match(self._text, start, self._end):
            self._position = formula.end()

    def _pass_to(self, closing: str, start: int) -> None:
        """Go behind the next `closing`, if there is one; look for it in vain only once."""
        self._position = start
        if closing in self._unclosed:
            return
        found = self._text.find(closing, start, self._end)
        if found < 0:
            self._unclosed.add(closing)
        else:
            self._position = found + len(closing)
