"""Writes what documents say as Markdown, so that none of their text is taken for structure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

# At the start of a line these would be read as structure, or as a page mark.
_STRUCTURE: Final = re.compile(r"\s*(?:#{1,6}(?:\s|$)|`{3}|~{3}|<!--)")
# Under a line of text it would make a heading of that; mails have it above a signature.
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)\s*")
# A table of more columns is no help to a reader, and costs its width on every row.
_MAX_COLUMNS: Final = 200

Row = Mapping[int, str]
"""The cells of a row that hold something, by their column from 0."""


def escaped(text: str) -> str:
    """Return text none of whose lines is read as a heading, a fence or a page mark."""
    lines = text.split("\n")
    return "\n".join(map(_escaped_line, lines, ["", *lines]))


def one_line(text: str) -> str:
    """Return text with its blanks and line ends collapsed."""
    return " ".join(text.split())


def heading(level: int, text: str) -> str:
    """Return a heading of level 1 to 6, "" where the text is blank."""
    title = one_line(text)
    return f"{'#' * min(max(level, 1), 6)} {title}" if title else ""


def page_mark(number: int) -> str:
    """Return the line that says where a page, slide or sheet starts, counted from 1."""
    return f"<!-- page {number} -->"


def joined(blocks: Sequence[str]) -> str:
    """Return blocks apart from each other; those that are empty are left out."""
    return "\n\n".join(block for block in blocks if block)


def table(rows: Sequence[Row]) -> str:
    """Return rows as a table of the columns that are used; one of one column is paragraphs."""
    columns = sorted({column for row in rows for column in row})[:_MAX_COLUMNS]
    if len(columns) <= 1:
        return joined([escaped(text) for row in rows for text in row.values()])
    header, *body = (_table_row(row, columns) for row in rows)
    return "\n".join([header, f"|{'---|' * len(columns)}", *body])


def _table_row(row: Row, columns: Sequence[int]) -> str:
    cells = (one_line(row.get(column, "")).replace("|", "\\|") for column in columns)
    return f"| {' | '.join(cells)} |"


def _escaped_line(line: str, before: str) -> str:
    is_underline = bool(before.strip()) and _UNDERLINE.fullmatch(line)
    return f"\\{line}" if is_underline or _STRUCTURE.match(line) else line
