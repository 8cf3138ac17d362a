"""Which parts of a Markdown text are prose: where links count, code and comments left out."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_FRONT_MATTER: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_FRONT_MATTER_END: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_QUOTE: Final = re.compile(r" {0,3}>[ \t]?")
_INDENT: Final = re.compile(r"[ \t]*")
_FENCE: Final = re.compile(r"(`{3,})[^`\n]*$|(~{3,})")
_ITEM: Final = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?=[ \t\r\n]|$)[ \t]*")
# What underlines a heading, and what parts two paragraphs: a line of its own.
_RULE: Final = re.compile(
    r"(?:(?:=+|-+)[ \t]*|(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\r?\n?"
)
_CODE_INDENT: Final = 4
_TAB: Final = 4
_MAX_DEPTH: Final = 32


class Prose(NamedTuple):
    """A stretch of text that is read as one: code and emphasis do not cross its ends."""

    start: int
    end: int


def front_matter_end(text: str) -> int:
    """Return where the front matter ends, its last fence included; 0 if there is none."""
    opening = _FRONT_MATTER.match(text)
    closing = opening and _FRONT_MATTER_END.search(text, opening.end())
    return closing.end() if closing else 0


def prose_of(text: str, start: int = 0) -> Iterator[Prose]:
    """Yield the paragraphs, headings, list items and table rows after `start`, in order.

    Fenced and indented code, blocks of comment and of display formulas are left out.
    """
    return _Blocks(text, start).prose()


class _Line(NamedTuple):
    """A line: where it and its content start, its end, its quotation depth and indentation."""

    start: int
    content: int
    end: int
    quotes: int
    indent: int
    blank: bool


class _Fence(NamedTuple):
    mark: str
    quotes: int
    base: int


class _Blocks:
    """One pass over the lines of a text."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._position = start
        self._open: int | None = None
        self._quotes = 0
        self._items: list[int] = []
        self._after_blank = True
        self._in_code = False
        self._unclosed: set[str] = set()

    def prose(self) -> Iterator[Prose]:
        fence: _Fence | None = None
        while self._position < len(self._text):
            line = self._line(self._position)
            self._position = line.end
            if fence is not None and self._still_in(fence, line):
                fence = None if self._closes(fence, line) else fence
                continue
            fence = None
            if self._ends_prose(line):
                yield from self._closed(line.start)
            if line.blank:
                self._after_blank = True
                continue
            self._enter_items(line)
            fence = self._fence(line)
            if fence is not None or self._is_code(line) or self._is_skipped(line):
                yield from self._closed(line.start)
            elif self._open is None:
                self._open = line.content
            if self._text[line.content] in "#=-*_" and self._stands_alone(line):
                yield from self._closed(line.end)
            self._passed(line)
        yield from self._closed(len(self._text))

    def _passed(self, line: _Line) -> None:
        self._after_blank = False
        # A paragraph goes on without the marks of its quotation.
        if self._open is None or self._open >= line.start:
            self._quotes = line.quotes

    def _stands_alone(self, line: _Line) -> bool:
        """Tell whether a line is a heading, underlines one, or parts what stands around it."""
        is_heading = self._text[line.content] == "#"
        return is_heading or _RULE.fullmatch(self._text, line.content, line.end) is not None

    def _closed(self, end: int) -> Iterator[Prose]:
        if self._open is not None and self._open < end:
            yield Prose(self._open, end)
        self._open = None

    def _line(self, start: int) -> _Line:
        text = self._text
        end = text.find("\n", start) + 1 or len(text)
        content, quotes = start, 0
        while quote := _QUOTE.match(text, content, end):
            content, quotes = quote.end(), quotes + 1
        spaces = _INDENT.match(text, content, end)
        inner = spaces.end() if spaces else content
        indent = len(text[content:inner].expandtabs(_TAB))
        blank = not text[inner:end].strip("\r\n")
        return _Line(start, inner, end, quotes, indent, blank)

    def _ends_prose(self, line: _Line) -> bool:
        """Tell whether a line starts something of its own, whatever stood before it."""
        if line.blank or line.quotes > self._quotes:
            return True
        return self._text[line.content] in "#|" or self._item(line) is not None

    def _item(self, line: _Line) -> re.Match[str] | None:
        return None if self._is_code(line) else _ITEM.match(self._text, line.content, line.end)

    def _enter_items(self, line: _Line) -> None:
        """Keep the content columns of the list items that a line stands in."""
        if line.quotes != self._quotes:
            self._items = []
        if self._after_blank or self._item(line):
            while self._items and line.indent < self._items[-1]:
                self._items.pop()
        item = self._item(line)
        if item and len(self._items) < _MAX_DEPTH:
            self._items.append(line.indent + _item_width(item[0]))

    def _is_code(self, line: _Line) -> bool:
        """Tell whether a line is indented code, which cannot interrupt a paragraph."""
        inside = [column for column in self._items if column <= line.indent]
        deep = line.indent - (inside[-1] if inside else 0) >= _CODE_INDENT
        return deep and self._open is None and (self._after_blank or line.quotes == self._quotes)

    def _fence(self, line: _Line) -> _Fence | None:
        item = _ITEM.match(self._text, line.content, line.end)
        at = item.end() if item else line.content
        found = _FENCE.match(self._text[at : line.end].rstrip("\r\n"))
        if found is None or self._is_code(line):
            return None
        around = self._items if item else [at for at in self._items if at <= line.indent]
        return _Fence(found[1] or found[2], line.quotes, around[-1] if around else 0)

    def _still_in(self, fence: _Fence, line: _Line) -> bool:
        return line.quotes >= fence.quotes and (line.blank or line.indent >= fence.base)

    def _closes(self, fence: _Fence, line: _Line) -> bool:
        rest = self._text[line.content : line.end].rstrip()
        return len(rest) >= len(fence.mark) and set(rest) == {fence.mark[0]}

    def _is_skipped(self, line: _Line) -> bool:
        """Pass a comment or display formula that starts a line; tell whether one did.

        What stands behind it on its last line is read as the next line.
        """
        if self._open is not None:
            return False
        return self._skips(line, "<!--", "-->") or self._skips(line, "$$", "$$")

    def _skips(self, line: _Line, opening: str, closing: str) -> bool:
        if opening in self._unclosed or not self._text.startswith(opening, line.content):
            return False
        end = self._text.find(closing, line.content + len(opening))
        if end < 0:
            self._unclosed.add(opening)
            return False
        self._position = end + len(closing)
        return True


def _item_width(marker: str) -> int:
    """Return how far behind the start of its marker an item's content begins."""
    mark = len(marker.rstrip())
    spaces = len(marker.expandtabs(_TAB)) - mark
    return mark + (spaces if 1 <= spaces <= _CODE_INDENT else 1)
