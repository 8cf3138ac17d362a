"""Reads Excel workbooks (.xlsx, .xlsm), cell by cell.

Only cells that hold something cost anything, whatever size a sheet says it has.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from archivolt.adapters.extraction.office_parts import (
    main_part,
    part_of_kind,
    relationships,
    title_of,
)
from archivolt.adapters.extraction.sheets import Workbook
from archivolt.adapters.extraction.xlsx_values import CellFormats, CellValues
from archivolt.adapters.extraction.xml_events import Attributes
from archivolt.adapters.extraction.zip_guard import open_archive
from archivolt.ports.ingestion import Extraction

_WORKBOOK: Final = "xl/workbook.xml"
_REFERENCE: Final = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_LETTERS: Final = 26


class XlsxExtractor:
    """An `Extractor` of Excel workbooks: the values of every sheet as tables."""

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the sheets as Markdown, each as a page.

        Raises:
            UnsupportedContentError: `document_broken` or `document_encrypted`.
            TooLargeError: `document_inflates` or `document_too_much_text`.

        """
        with open_archive(data) as archive:
            workbook = main_part(archive, _WORKBOOK)
            outline = archive.parse(workbook, _Outline())
            parts = relationships(archive, workbook)
            strings = part_of_kind(archive, parts, "sharedStrings", "xl/sharedStrings.xml")
            styles = part_of_kind(archive, parts, "styles", "xl/styles.xml")
            values = CellValues(
                strings=archive.parse(strings, _SharedStrings()).strings,
                formats=archive.parse(styles, CellFormats()),
                from_1904=outline.from_1904,
            )
            book = Workbook()
            for sheet, part in outline.sheets:
                target = parts[part].target if part in parts else ""
                rows = archive.parse(target, _SheetRows(values, book)).rows
                book.add_sheet(sheet, rows)
            return Extraction(
                markdown=book.markdown(), title=title_of(archive), pages=book.sheets or None
            )


@dataclass
class _Outline:
    """The sheets of a workbook in order: their names and the ids of their parts."""

    sheets: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    from_1904: bool = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "sheet":
            self.sheets.append((attributes.get("name", ""), attributes.get("id", "")))
        elif name == "workbookPr":
            self.from_1904 = attributes.get("date1904", "") in {"1", "true"}

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:
        """Take text between tags."""


class _SharedStrings:
    """The texts that cells refer to by number; readings of East Asian letters are left out."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._parts: list[str] = []
        self._in_text = False
        self._in_reading = False

    def start(self, name: str, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        self._in_reading = self._in_reading or name == "rPh"
        self._in_text = name == "t" and not self._in_reading

    def end(self, name: str) -> None:
        self._in_text = False
        if name == "si":
            self.strings.append("".join(self._parts))
            self._parts = []
        elif name == "rPh":
            self._in_reading = False

    def text(self, text: str) -> None:
        if self._in_text:
            self._parts.append(text)


class _SheetRows:
    """The cells of one sheet that hold something."""

    def __init__(self, values: CellValues, book: Workbook) -> None:
        self.rows: list[tuple[int, dict[int, str]]] = []
        self._values = values
        self._book = book
        self._cell: Attributes = {}
        self._place = (0, -1)
        self._parts: list[str] = []
        self._in_value = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "c":
            self._cell, self._parts = attributes, []
            self._place = _place(attributes.get("r", ""), self._place)
        elif name == "row":
            self._place = _row_start(attributes.get("r", ""), self._place)
        self._in_value = name in {"v", "t"}

    def end(self, name: str) -> None:
        self._in_value = False
        if name != "c" or not self._parts:
            return
        stored = "".join(self._parts)
        kind, style = self._cell.get("t", ""), self._cell.get("s", "0")
        shown = self._values.shown(stored, kind, style)
        self._book.count(shown)
        if shown.strip():
            self._add(shown)

    def text(self, text: str) -> None:
        if self._in_value:
            self._parts.append(text)

    def _add(self, text: str) -> None:
        row, column = self._place
        if not self.rows or self.rows[-1][0] != row:
            self.rows.append((row, {}))
        self.rows[-1][1][column] = text


def _row_start(number: str, last: tuple[int, int]) -> tuple[int, int]:
    return (int(number) if number.isdecimal() else last[0] + 1), -1


def _place(reference: str, last: tuple[int, int]) -> tuple[int, int]:
    """Return the row and column of a cell; one that does not say follows the one before."""
    found = _REFERENCE.fullmatch(reference)
    return (int(found[2]), _column(found[1])) if found else (last[0], last[1] + 1)


def _column(letters: Sequence[str]) -> int:
    number = 0
    for letter in letters:
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number - 1
