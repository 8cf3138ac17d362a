"""Writes a page as Markdown: headings, paragraphs, lists, code, quotes and tables.

What is not read by people (scripts, styles, drawings) is left out; emphasis is shown as plain text.
"""

import re
from collections.abc import Callable
from typing import Final

from archivolt.adapters.extraction.html_table import TableRows
from archivolt.adapters.extraction.html_tokens import Tag, Text, tokens
from archivolt.adapters.extraction.markdown_text import escaped

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_PARAGRAPHS: Final = frozenset(
    """
    address article aside body center dd details dialog div dl dt fieldset figcaption figure footer
    form header hgroup hr legend main menu nav option p search section summary
    """.split()  # noqa: SIM905  quotes and commas would hide the names
)
_LEFT_OUT: Final = frozenset(
    "script style template svg math object iframe noembed canvas datalist".split()  # noqa: SIM905
)
# Without content, as XML may write them, they say nothing.
_AROUND: Final = frozenset(
    (*_HEADINGS, "title", "ul", "ol", "blockquote", "pre", "code", "table", "a")
)
_MAX_INDENT: Final = 8
_MAX_LINK_CHARS: Final = 500
_LINK: Final = re.compile(r"https?://[^\s()<>]+")
_BREAK: Final = "\x1e"


def html_to_markdown(html: str) -> tuple[str, str]:
    """Return a page as Markdown, and its title ("" where it has none)."""
    writer = _Writer()
    for token in tokens(html):
        if isinstance(token, Text):
            writer.text(token.text)
        else:
            writer.tag(token)
    return writer.markdown(), writer.title


class _Writer:
    def __init__(self) -> None:
        self.title = ""
        self._written: list[str] = []
        self._line: list[str] = []
        self._heading = 0
        self._lists: list[int | None] = []
        self._marker = ""
        self._in_list_item = False
        self._quotes = 0
        self._preformatted = False
        self._left_out = ""
        self._left_out_depth = 0
        self._in_title = False
        self._link: tuple[int, str] | None = None
        self._table = TableRows()

    def markdown(self) -> str:
        self._break()
        self._end_table()
        return "".join(self._written).strip("\n")

    def text(self, text: str) -> None:
        if self._in_title:
            self.title = self.title or " ".join(text.split())
        elif not self._left_out:
            self._line.append(text)

    def tag(self, tag: Tag) -> None:
        if tag.name in _LEFT_OUT and not tag.is_empty:
            self._leave_out(tag)
        if self._left_out or (tag.name in _AROUND and tag.is_empty):
            return
        if tag.name in _HEADINGS:
            self._turn_heading(tag)
        elif tag.name in _PARAGRAPHS:
            self._break()
        else:
            handle = _HANDLERS.get(tag.name)
            if handle:
                handle(self, tag)

    def _leave_out(self, tag: Tag) -> None:
        """Enter or leave an element that is not shown; only its own kind nests in it."""
        if not self._left_out and not tag.is_end:
            self._left_out, self._left_out_depth = tag.name, 1
        elif self._left_out == tag.name:
            self._left_out_depth += -1 if tag.is_end else 1
            if self._left_out_depth == 0:
                self._left_out = ""

    def turn_title(self, tag: Tag) -> None:
        self._in_title = not tag.is_end

    def _turn_heading(self, tag: Tag) -> None:
        if self._table.depth:
            self._end_cell()
            self._end_table()
        self._break()
        self._heading = 0 if tag.is_end else _HEADINGS[tag.name]

    def turn_list(self, tag: Tag) -> None:
        self._break()
        if not tag.is_end:
            self._lists.append(1 if tag.name == "ol" else None)
        elif self._lists:
            self._lists.pop()

    def turn_item(self, tag: Tag) -> None:
        self._break()
        if tag.is_end:
            return
        number = self._lists[-1] if self._lists else None
        self._marker = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1

    def turn_quote(self, tag: Tag) -> None:
        self._break()
        self._quotes = max(0, self._quotes + (-1 if tag.is_end else 1))

    def turn_preformatted(self, tag: Tag) -> None:
        self._break()
        self._preformatted = not tag.is_end and not self._table.depth

    def turn_code(self, _: Tag) -> None:
        if not self._preformatted:
            self._line.append("`")

    def turn_link(self, tag: Tag) -> None:
        link, self._link = self._link, None
        if not tag.is_end:
            self._link = (len(self._line), tag.attribute("href").strip())
        elif link and not self._heading and not self._preformatted:
            at, address = link
            text = " ".join("".join(self._line[at:]).split())
            if text and len(address) <= _MAX_LINK_CHARS and _LINK.fullmatch(address):
                self._line[at:] = [f"[{text}]({address})"]

    def add_image(self, tag: Tag) -> None:
        self._line.append(f" {tag.attribute('alt')} ")

    def add_break(self, _: Tag) -> None:
        self._line.append(_BREAK)

    def turn_table(self, tag: Tag) -> None:
        if not tag.is_end:
            self._break()
            self._table.depth += 1
        elif self._table.depth:
            if self._table.depth == 1:
                self._end_cell()
                self._end_table()
            self._table.depth -= 1

    def turn_row(self, _: Tag) -> None:
        if self._table.depth == 1:
            self._end_cell()
            self._table.end_row()

    def turn_cell(self, tag: Tag) -> None:
        if self._table.depth == 1:
            self._end_cell()
            self._table.in_cell = not tag.is_end
        else:
            self._break()

    def _end_cell(self) -> None:
        if self._table.in_cell:
            self._table.end_cell(self._taken().replace("\n", " "))
        else:
            self._end_paragraph()

    def _end_table(self) -> None:
        self._table.end_row()
        table = self._table.take()
        if table:
            self._written.append(f"\n\n{table}")

    def _break(self) -> None:
        if self._table.in_cell:
            self._line.append(" ")
        elif self._line or self._preformatted:
            self._end_paragraph()
        else:
            self._link = None

    def _taken(self) -> str:
        """Take what was written since the last block, blanks collapsed."""
        raw, self._line, self._link = "".join(self._line), [], None
        return "\n".join(" ".join(line.split()) for line in raw.split(_BREAK)).strip()

    def _end_paragraph(self) -> None:
        if self._preformatted:
            raw, self._line, self._preformatted = "".join(self._line), [], False
            self._add(fenced(raw.replace(_BREAK, "\n")) if raw.strip() else "")
            return
        text = self._taken()
        if self._heading:
            self._add(f"{'#' * self._heading} {' '.join(text.split())}" if text else "")
        else:
            self._add(escaped(text))

    def _add(self, text: str) -> None:
        if not text:
            return
        depth = min(len(self._lists), _MAX_INDENT)
        marker, self._marker = self._marker, ""
        indent = "  " * depth
        first = f"{indent[2:]}{marker}" if marker else indent
        quote = "> " * min(self._quotes, _MAX_INDENT)
        lines = text.split("\n")
        block = "\n".join(
            f"{quote}{indent if number else first}{line}" for number, line in enumerate(lines)
        )
        apart = "\n" if marker and self._in_list_item else "\n\n"
        self._written.append(f"{apart}{block}")
        self._in_list_item = bool(marker)


def fenced(code: str) -> str:
    """Return code in a fence that nothing in it closes."""
    longest = max(map(len, re.findall("`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{code.strip(chr(10))}\n{fence}"


_HANDLERS: Final[dict[str, Callable[[_Writer, Tag], None]]] = {
    "title": _Writer.turn_title,
    "ul": _Writer.turn_list,
    "ol": _Writer.turn_list,
    "li": _Writer.turn_item,
    "blockquote": _Writer.turn_quote,
    "pre": _Writer.turn_preformatted,
    "code": _Writer.turn_code,
    "a": _Writer.turn_link,
    "img": _Writer.add_image,
    "br": _Writer.add_break,
    "table": _Writer.turn_table,
    "tr": _Writer.turn_row,
    "td": _Writer.turn_cell,
    "th": _Writer.turn_cell,
}
