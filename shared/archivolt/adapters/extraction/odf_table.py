"""A table of an OpenDocument file: rows and cells may say that they are repeated, and how often."""

from typing import Final

from archivolt.adapters.extraction.markdown_text import table

# Sheets are filled up with a million rows that repeat; what people wrote repeats a few times.
_MAX_REPEATS: Final = 50


class OdfTable:
    """Collects the cells that hold something."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: list[tuple[int, dict[int, str]]] = []
        self._number = 0
        self._row: dict[int, str] = {}
        self._row_repeats = 1
        self._column = 0
        self._cell_repeats = 1
        self._cell: list[str] = []

    def start_row(self, repeats: int) -> None:
        """Begin a row that stands for that many."""
        self._row, self._row_repeats, self._column = {}, repeats, 0

    def start_cell(self, repeats: int) -> None:
        """Begin a cell that stands for that many."""
        self._cell, self._cell_repeats = [], repeats

    def add_text(self, text: str) -> None:
        """Add a paragraph to the cell."""
        self._cell.append(text)

    def end_cell(self) -> str:
        """End the cell and return its text."""
        text = " ".join(self._cell)
        if text:
            for column in range(min(self._cell_repeats, _MAX_REPEATS)):
                self._row[self._column + column] = text
        self._column += self._cell_repeats
        self._cell, self._cell_repeats = [], 1
        return text

    def end_row(self) -> None:
        """End the row."""
        if self._row:
            times = min(self._row_repeats, _MAX_REPEATS)
            self.rows += [(self._number + number, self._row) for number in range(times)]
        self._number += self._row_repeats
        self._row = {}

    def markdown(self) -> str:
        """Return the table as Markdown."""
        return table([row for _, row in self.rows])

    def as_text(self) -> str:
        """Return what the table says, for the cell of another it stands in."""
        return " ".join(text for _, row in self.rows for text in row.values())
