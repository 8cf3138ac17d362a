"""The links in a stretch of Markdown prose as they stand there (CommonMark 0.31.2, §4.7 and §6)."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from archivolt.domain.markdown_destinations import (
    Definition,
    Destination,
    definition_at,
    destination_at,
)
from archivolt.domain.markdown_prose import Prose


class InlineLink(NamedTuple):
    """`[text](destination)` or `![text](destination)`: where it starts, and where its text is."""

    start: int
    text: int
    text_end: int
    destination: Destination


class Wikilink(NamedTuple):
    """`[[…]]` or `![[…]]`: its mark, "!" or "", and its inside are the match's groups."""

    match: re.Match[str]


class Autolink(NamedTuple):
    """`<scheme:…>`: where the address starts and ends, within its brackets."""

    start: int
    end: int


WIKI: Final = re.compile(r"(!?)\[\[([^\[\]\r\n]+)\]\]")
_MARKS: Final = r"\\.|`+|<!--|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*>|!?\[|\]"
_TOKEN: Final = re.compile(_MARKS, re.DOTALL)
_TOKEN_OF_NOTES: Final = re.compile(rf"\$|!?\[\[[^\[\]\r\n]+\]\]|{_MARKS}", re.DOTALL)
_TICKS: Final = re.compile(r"`+")
_FORMULA: Final = re.compile(r"\$(?![\s$])(?:\\.|[^$\\\r\n])*(?<!\s)\$(?!\d)")
# What stands before the first words of a quotation or a list item, and before its further lines.
_CONTAINERS: Final = re.compile(r"(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*")


class _Opener(NamedTuple):
    start: int
    text: int
    image: bool


class LinkScanner:
    """One pass over a stretch of prose, in time in proportion to it.

    With `notes` it has wikilinks, and what stands between two `$` is none of it (Obsidian's kinds).
    """

    def __init__(self, text: str, prose: Prose, *, notes: bool) -> None:
        self._text = text
        self._position, self._end = prose
        self._token = _TOKEN_OF_NOTES if notes else _TOKEN
        self._openers: list[_Opener] = []
        self._barrier = 0
        self._ticks: dict[int, list[int]] | None = None
        self._unclosed: set[str] = set()

    def links(self) -> Iterator[Definition | InlineLink | Wikilink | Autolink]:
        """Yield the definitions at the start, then the links, in the order of their ends."""
        yield from self._definitions()
        while token := self._token.search(self._text, self._position, self._end):
            self._position = token.end()
            link = self._read(token)
            if link is not None:
                yield link

    def _definitions(self) -> Iterator[Definition]:
        while found := definition_at(self._text, self._contained(), self._end):
            self._position = found.next_line
            yield found

    def _contained(self) -> int:
        containers = _CONTAINERS.match(self._text, self._position, self._end)
        return containers.end() if containers else self._position

    def _read(self, token: re.Match[str]) -> InlineLink | Wikilink | Autolink | None:
        match token[0][0]:
            case "]":
                return self._close(token.start())
            case "[" | "!":
                return self._open(token)
            case "<":
                return self._bracket(token)
            case "`":
                self._pass_code(token)
            case "$":
                self._pass_formula(token.start())
            case _:
                pass  # escaped
        return None

    def _open(self, token: re.Match[str]) -> Wikilink | None:
        if wiki := WIKI.fullmatch(self._text, token.start(), token.end()):
            return Wikilink(wiki)
        self._openers.append(_Opener(token.start(), token.end(), token[0] == "!["))
        return None

    def _bracket(self, token: re.Match[str]) -> Autolink | None:
        if token[0] != "<!--":
            return Autolink(token.start() + 1, token.end() - 1)
        self._pass_to("-->", token.end())
        return None

    def _close(self, position: int) -> InlineLink | None:
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
        return InlineLink(opener.start, opener.text, position, found)

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
