"""Reads the outline of plain Markdown line by line: most notes, several times faster than a parser.

It goes as far as what it reads can mean one thing only. Where a line could be something else
(indented code, a setext heading, a lazy continuation, a list with odd markers), it stops before the
block that the line may belong to, and a parser has to read on from there.
"""

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple


class Outlined(Enum):
    """What a block is to its outline."""

    HEADING = auto()
    PARAGRAPH = auto()
    LIST = auto()
    FENCE = auto()
    OTHER = auto()


class Outline(NamedTuple):
    """A block: the lines from `first` to before `end`, of which the last may be blank.

    `level` and `title`, as written, belong to headings; `items` are the lines, counted from the
    first, at which a list's items start.
    """

    kind: Outlined
    first: int
    end: int
    level: int = 0
    title: str = ""
    items: Sequence[int] = ()


_BLANKS: Final = " \t"
_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]+(.*))?")
# What closes a heading is a matter of its own.
_ODD_HEADING: Final = re.compile(r"\0|[# \t]$")
_FENCE: Final = re.compile(r"(`{3,})[^`]*|(~{3,}).*")
_RULE: Final = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}")
# One blank behind the marker and then something that is no blank: other items are left alone.
_ITEM: Final = re.compile(r"(?:([-*+])|(\d{1,9})([.)])) (?=[^ \t])")
_BULLET: Final = re.compile(r"[-*+] (?=[^ \t])")
_MAY_BE_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
# Lists in lists and quotes in them, at once or by their depth: a parser bounds how deep it goes.
_DEEP: Final = re.compile(r" {16}| *(?:>|(?:[-*+]|\d{1,9}[.)])[ \t]+(?:[-*+>]|\d{1,9}[.)]))")
# Under a paragraph, these lines would make a heading of it.
_UNDERLINE: Final = re.compile(r"(?:=+|-+)[ \t]*")
_QUOTE: Final = ">"


class PlainBlocks:
    """The blocks from a line on, as far as they are plain; then `stopped` tells the line.

    Args:
        lines: Those of the text.
        start: The first to read; a block begins there.

    """

    def __init__(self, lines: Sequence[str], start: int) -> None:
        self._lines = lines
        self.stopped = start

    def __iter__(self) -> Iterator[Outline]:
        """Yield block after block."""
        while (found := self._next()) is not None:
            self.stopped = found.end
            yield found

    def _next(self) -> Outline | None:
        at = self.stopped
        while at < len(self._lines) and self._is_blank(at):
            at += 1
        if at < len(self._lines):
            return self._block(at)
        self.stopped = at
        return None

    def _block(self, at: int) -> Outline | None:
        line = self._lines[at]
        if line[0] in _BLANKS:
            return None
        found = self._heading(at) or self._fence(at) or self._rule(at)
        if found is not None:
            return found
        if line[0] == _QUOTE:
            return self._quote(at)
        return self._list(at) if _MAY_BE_ITEM.match(line) else self._paragraph(at)

    def _heading(self, at: int) -> Outline | None:
        line = self._lines[at]
        found = _HEADING.fullmatch(line) if line[0] == "#" else None
        if found is None or _ODD_HEADING.search(line):
            return None
        return Outline(Outlined.HEADING, at, at + 1, len(found[1]), found[2] or "")

    def _fence(self, at: int) -> Outline | None:
        line = self._lines[at]
        opening = _FENCE.fullmatch(line) if line[0] in "`~" else None
        if opening is None:
            return None
        mark = opening[1] or opening[2]
        closing = re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*")
        ends = (n for n in range(at + 1, len(self._lines)) if closing.fullmatch(self._lines[n]))
        return Outline(Outlined.FENCE, at, next(ends, len(self._lines) - 1) + 1)

    def _rule(self, at: int) -> Outline | None:
        return Outline(Outlined.OTHER, at, at + 1) if _is_rule(self._lines[at]) else None

    def _quote(self, at: int) -> Outline | None:
        end = at + 1
        while end < len(self._lines) and self._lines[end][:1] == _QUOTE:
            end += 1
        # A line without the mark may go on with the last paragraph in it.
        return Outline(Outlined.OTHER, at, end) if self._is_blank(end) else None

    def _paragraph(self, at: int) -> Outline | None:
        if self._is_odd_heading(at):
            return None
        end = at + 1
        while not self._is_blank(end):
            line = self._lines[end]
            if line[0] in _BLANKS or _UNDERLINE.fullmatch(line):
                return None
            if self._interrupts(line):
                break
            if _MAY_BE_ITEM.match(line) or self._is_odd_heading(end):
                return None
            end += 1
        return Outline(Outlined.PARAGRAPH, at, end)

    def _list(self, at: int) -> Outline | None:
        first = _ITEM.match(self._lines[at])
        if first is None or _DEEP.match(self._lines[at]):
            return None
        items, end, width = [0], at + 1, first.end()
        for end in range(at + 1, len(self._lines) + 1):
            if self._is_blank(end):
                continue
            line = self._lines[end]
            item = _ITEM.match(line)
            if line[0] in _BLANKS:
                if _DEEP.match(line) or not _is_within(line, width):
                    return None
            elif item and _is_next(first, item) and not _is_rule(line):
                if _DEEP.match(line):
                    return None
                items.append(end - at)
                width = item.end()
            else:
                ends = self._is_blank(end - 1) and not _MAY_BE_ITEM.match(line)
                return Outline(Outlined.LIST, at, end, items=items) if ends else None
        return Outline(Outlined.LIST, at, end, items=items)

    def _interrupts(self, line: str) -> bool:
        """Tell whether a line ends the paragraph before it, being the first of another block."""
        if line[0] == "#":
            return bool(_HEADING.fullmatch(line))
        if line[0] in "`~":
            return bool(_FENCE.fullmatch(line))
        return line[0] == _QUOTE or _is_rule(line) or bool(_BULLET.match(line))

    def _is_odd_heading(self, at: int) -> bool:
        line = self._lines[at]
        return line[0] == "#" and bool(_HEADING.fullmatch(line) and _ODD_HEADING.search(line))

    def _is_blank(self, at: int) -> bool:
        """Tell whether a line is blank, or behind the last."""
        return at >= len(self._lines) or not self._lines[at].strip(_BLANKS)


def _is_rule(line: str) -> bool:
    return line[0] in "-*_" and bool(_RULE.fullmatch(line))


def _is_within(line: str, width: int) -> bool:
    """Tell whether a line is indented as far as the content of an item."""
    return line.startswith(" " * width) and "\t" not in line[: width + 1]


def _is_next(first: re.Match[str], item: re.Match[str]) -> bool:
    """Tell whether an item is of the list that another one began."""
    return (first[1], first[3]) == (item[1], item[3])
