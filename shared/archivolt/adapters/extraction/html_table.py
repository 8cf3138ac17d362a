"""The rows of one table, as they are met; tables inside its cells are text of the cell."""

from typing import Final

_MAX_COLUMNS: Final = 1_000


class TableRows:
    """Collects cells into rows, and rows into a Markdown table."""

    def __init__(self) -> None:
        self.depth = 0
        self.in_cell = False
        self._rows: list[list[str]] = []
        self._row: list[str] = []

    def end_cell(self, text: str) -> None:
        """Add a cell to the row, if one is open."""
        if self.in_cell and len(self._row) < _MAX_COLUMNS:
            self._row.append(text.replace("|", "\\|"))
        self.in_cell = False

    def end_row(self) -> None:
        """Add the row to the table, unless it is empty."""
        if any(self._row):
            self._rows.append(self._row)
        self._row = []

    def take(self) -> str:
        """Return the table so far and start anew; its first row is the header."""
        rows, self._rows = self._rows, []
        if not rows:
            return ""
        if max(map(len, rows)) == 1:
            return "\n\n".join(row[0] for row in rows)
        header, *body = (f"| {' | '.join(row)} |" for row in rows)
        return "\n".join([header, f"|{'---|' * max(2, len(rows[0]))}", *body])
