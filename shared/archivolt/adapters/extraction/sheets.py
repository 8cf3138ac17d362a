"""The rows of a sheet as Markdown: what stands together is one table, however far out it stands."""

from collections.abc import Sequence

from archivolt.adapters.extraction.markdown_text import Row, heading, joined, page_mark, table
from archivolt.domain.errors import TooLargeError
from archivolt.domain.limits import MAX_EXTRACTED_CHARS, MAX_SHEET_CELLS


class Workbook:
    """Writes sheets one after the other, and holds their cells to the limits."""

    def __init__(self) -> None:
        self.sheets = 0
        self._written: list[str] = []
        self._cells = 0
        self._chars = 0

    def add_sheet(self, name: str, rows: Sequence[tuple[int, Row]]) -> None:
        """Write a sheet: its name as a heading, and its rows with their numbers; none if empty."""
        self.sheets += 1
        if rows:
            self._written += [page_mark(self.sheets), heading(2, name), *map(table, _blocks(rows))]

    def count(self, cell: str) -> None:
        """Take a cell into account.

        Raises:
            TooLargeError: `document_inflates` or `document_too_much_text`.

        """
        self._cells += 1
        self._chars += len(cell)
        if self._cells > MAX_SHEET_CELLS:
            raise TooLargeError("document_inflates")
        if self._chars > MAX_EXTRACTED_CHARS:
            raise TooLargeError("document_too_much_text", limit=MAX_EXTRACTED_CHARS)

    def markdown(self) -> str:
        """Return all sheets."""
        return joined(self._written)


def _blocks(rows: Sequence[tuple[int, Row]]) -> list[list[Row]]:
    """Return rows that follow each other together; an empty row parts two tables."""
    blocks: list[list[Row]] = []
    last = -2
    for number, row in rows:
        if number - last > 1:
            blocks.append([])
        blocks[-1].append(row)
        last = number
    return blocks
