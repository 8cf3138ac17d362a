"""How long large and hostile documents hold a worker: the processor's seconds, children included.

Each is read and cut into passages as the indexing function does it. The floor is a child process
that reads an empty sheet.
"""

import os
from collections.abc import Callable
from typing import Final

from archivolt.composition.extraction import extractor_of_all_formats
from archivolt.domain.paths import VaultPath
from archivolt.ingestion.documents import DocumentReader
from bench.table import Row
from tests.documents import docx, heavy_pdf, pdf
from tests.office_documents import overlapping, xlsx
from tests.splitting import product_split

_MEGABYTE: Final = 1_000_000
_LINES: Final = [f"Line {number} of a page, with some words in it." for number in range(40)]
_FAR: Final = (
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
)

_DOCUMENTS: Final[dict[str, Callable[[], bytes]]] = {
    "a PDF of 600 pages": lambda: pdf([_LINES] * 600),
    "a PDF of 50 MB": lambda: heavy_pdf([_LINES] * 50, os.urandom(50 * _MEGABYTE)),
    "200 sheets of a million declared rows": lambda: xlsx({f"{n}": _FAR for n in range(200)}),
    "200 sheets of 1,000 cells": lambda: xlsx({f"{n}": _rows(100) for n in range(200)}),
    "a workbook of 3 million cells": lambda: xlsx({f"{n}": _rows(10_000) for n in range(30)}),
    "a Word file that inflates": lambda: docx(
        "", parts={f"word/{n}.xml": b" " * 120 * _MEGABYTE for n in range(3)}
    ),
    "9,000 entries that overlap": lambda: overlapping(9_000, _MEGABYTE),
}


def measure() -> list[Row]:
    """Return the seconds of each document, and what came of it."""
    reader = DocumentReader(
        extractor_of_all_formats(),
        product_split,
        recipe="bench",
    )
    floor, _ = _seconds(reader, xlsx({"S": ""}))
    rows: list[Row] = []
    for name, make in _DOCUMENTS.items():
        seconds, state = _seconds(reader, make())
        rows.append(
            Row(
                measure=f"{name}: {state}",
                value=seconds,
                unit="s",
                floor="an empty sheet",
                floor_value=floor,
            )
        )
    return rows


def _seconds(reader: DocumentReader, data: bytes) -> tuple[float, str]:
    """Return the processor's seconds, this process's and its children's, and what came of it."""
    before = os.times()
    reading = reader.read(VaultPath("document"), data)
    after = os.times()
    # User and system time of this process and of its children, which come before the elapsed time.
    spent = sum(after[:4]) - sum(before[:4])
    return spent, reading.reason or f"{len(reading.passages)} passages"


def _rows(count: int) -> str:
    return "".join(
        f'<row r="{row}">'
        + "".join(f'<c r="{chr(65 + cell)}{row}"><v>{row * cell}</v></c>' for cell in range(10))
        + "</row>"
        for row in range(1, count + 1)
    )
