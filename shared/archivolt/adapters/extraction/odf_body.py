"""The body of an OpenDocument file as Markdown, element by element (OpenDocument 1.3 part 3)."""

from collections.abc import Callable
from typing import Final

from archivolt.adapters.extraction.markdown_text import (
    escaped,
    heading,
    joined,
    one_line,
    page_mark,
)
from archivolt.adapters.extraction.odf_table import OdfTable
from archivolt.adapters.extraction.sheets import Workbook
from archivolt.adapters.extraction.xml_events import Attributes

# What has been deleted, comments, numbers of pages and notes, forms, macros: not the text.
_LEFT_OUT: Final = frozenset(
    (
        "tracked-changes",
        "annotation",
        "note-citation",
        "page-number",
        "forms",
        "scripts",
        "automatic-styles",
        "font-face-decls",
    )
)
_PARAGRAPHS: Final = frozenset(("p", "h"))
_MAX_INDENT: Final = 8
_MAX_SPACES: Final = 100


class OdfBody:
    """An `XmlHandler` of `content.xml`."""

    def __init__(self) -> None:
        self.pages = 0
        self._blocks: list[str] = []
        self._items: list[str] = []
        self._book = Workbook()
        # A text box or a note stands inside a paragraph and has paragraphs of its own.
        self._paragraphs: list[list[str]] = []
        self._levels: list[int] = []
        self._lists = 0
        self._is_item_start = False
        self._tables: list[OdfTable] = []
        self._is_sheet = False
        self._is_title = False
        self._left_out = 0

    def markdown(self) -> str:
        """Return everything that was read."""
        self._end_list()
        return joined([*self._blocks, self._book.markdown()])

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the start of an element."""
        if self._left_out or name in _LEFT_OUT:
            self._left_out += 1
        elif name in _PARAGRAPHS:
            self._paragraphs.append([])
            self._levels.append(_number(attributes, "outline-level") if name == "h" else 0)
        else:
            start = _STARTS.get(name)
            if start:
                start(self, attributes)

    def end(self, name: str) -> None:
        """Take the end of an element."""
        if self._left_out:
            self._left_out -= 1
        elif name in _PARAGRAPHS and self._paragraphs:
            self._end_paragraph()
        elif name == "list":
            self._turn_list(-1)
        elif name == "frame":
            self._is_title = False
        elif name == "table" and self._tables:
            self._end_table()
        elif name == "table-row" and self._tables:
            self._tables[-1].end_row()
        elif name == "table-cell" and self._tables:
            self._book.count(self._tables[-1].end_cell())

    def text(self, text: str) -> None:
        """Take text between tags."""
        if self._paragraphs and not self._left_out:
            self._paragraphs[-1].append(text)

    def start_body(self, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        """Take the start of a spreadsheet, whose tables are sheets."""
        self._is_sheet = True

    def start_page(self, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        """Take the start of a slide."""
        self.pages += 1
        self._add(page_mark(self.pages))

    def start_frame(self, attributes: Attributes) -> None:
        """Take the start of a box on a slide."""
        self._is_title = attributes.get("class") == "title"

    def start_list(self, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        """Take the start of a list."""
        self._turn_list(1)

    def start_item(self, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        """Take the start of an item of a list."""
        self._is_item_start = True

    def start_table(self, attributes: Attributes) -> None:
        """Take the start of a table, which may stand in a cell of another."""
        self._tables.append(OdfTable(attributes.get("name", "")))

    def start_row(self, attributes: Attributes) -> None:
        """Take the start of a row."""
        if self._tables:
            self._tables[-1].start_row(_number(attributes, "number-rows-repeated") or 1)

    def start_cell(self, attributes: Attributes) -> None:
        """Take the start of a cell, or of one that another covers."""
        if self._tables:
            self._tables[-1].start_cell(_number(attributes, "number-columns-repeated") or 1)

    def add_spaces(self, attributes: Attributes) -> None:
        """Take blanks that XML would lose."""
        self.text(" " * min(_number(attributes, "c") or 1, _MAX_SPACES))

    def add_tab(self, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        """Take a tabulator."""
        self.text("\t")

    def add_break(self, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        """Take the end of a line in a paragraph."""
        self.text("\n")

    def _end_paragraph(self) -> None:
        text = "".join(self._paragraphs.pop()).strip()
        level = self._levels.pop()
        if not text:
            return
        if self._tables:
            self._tables[-1].add_text(text)
        elif level or self._is_title:
            self._add(heading(level or 2, text))
        elif self._lists:
            self._add_item(text)
        elif self._paragraphs:
            self._paragraphs[-1].append(f" ({one_line(text)}) ")
        else:
            self._add(escaped(text))

    def _turn_list(self, step: int) -> None:
        if self._lists == (0 if step > 0 else 1):
            self._end_list()
        self._lists += step

    def _add_item(self, text: str) -> None:
        indent = "  " * min(self._lists - 1, _MAX_INDENT)
        self._items.append(f"{indent}{'- ' if self._is_item_start else '  '}{one_line(text)}")
        self._is_item_start = False

    def _add(self, block: str) -> None:
        self._end_list()
        self._blocks.append(block)

    def _end_list(self) -> None:
        items, self._items = self._items, []
        self._blocks.append("\n".join(items))

    def _end_table(self) -> None:
        ended = self._tables.pop()
        if self._tables:
            self._tables[-1].add_text(ended.as_text())
        elif self._is_sheet:
            self._book.add_sheet(ended.name, ended.rows)
            self.pages = self._book.sheets
        else:
            self._add(ended.markdown())


def _number(attributes: Attributes, name: str) -> int:
    text = attributes.get(name, "")
    return int(text) if text.isdecimal() else 0


_STARTS: Final[dict[str, Callable[[OdfBody, Attributes], None]]] = {
    "spreadsheet": OdfBody.start_body,
    "page": OdfBody.start_page,
    "frame": OdfBody.start_frame,
    "list": OdfBody.start_list,
    "list-item": OdfBody.start_item,
    "list-header": OdfBody.start_item,
    "table": OdfBody.start_table,
    "table-row": OdfBody.start_row,
    "table-cell": OdfBody.start_cell,
    "covered-table-cell": OdfBody.start_cell,
    "s": OdfBody.add_spaces,
    "tab": OdfBody.add_tab,
    "line-break": OdfBody.add_break,
}
