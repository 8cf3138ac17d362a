"""Text, code and data as Markdown: prose as it is, code in a fence, rows in a table."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from typing import Final

from archivolt.domain.errors import UnsupportedContentError
from archivolt.ingestion.extraction.formats import DocumentFormat, extension_of
from archivolt.ingestion.markdown_blocks import title_of
from archivolt.ports.ingestion import Extraction

Decode = Callable[[bytes], str | None]

# Wider ones nobody reads as tables, and they cost minutes to cut as such.
_MAX_COLUMNS: Final = 1_000
# JSON without line breaks is laid out anew up to this size, so that it can be cut between lines.
_MAX_LAID_OUT_CHARS: Final = 5_000_000
_LONG_LINE: Final = 2_000
# Where two would do, commas are those of numbers and sentences.
_DELIMITERS: Final = ";\t|,"
# How Excel is told which mark parts the cells.
_TOLD: Final = re.compile(r"sep=([^\"\w\s]|\t)\r?\n", re.IGNORECASE)
_SAMPLE_LINES: Final = 20
_BACKTICKS: Final = re.compile(r"^\s*(`{3,})", re.MULTILINE)
_LANGUAGE: Final = re.compile(r"[a-z0-9+#-]{1,16}")


class PlainTextExtractor:
    """An `Extractor` of one textual format.

    Args:
        form: Which.
        decode: Turns bytes into text, None where they are none.

    """

    def __init__(self, form: DocumentFormat, decode: Decode) -> None:
        self._form = form
        self._decode = decode

    def extract(self, data: bytes, *, name: str) -> Extraction:
        """Return the text as Markdown.

        Raises:
            UnsupportedContentError: `unsupported_format`: it is no text.

        """
        text = self._decode(data)
        if text is None:
            raise UnsupportedContentError("unsupported_format")
        text = text.replace("\0", "")
        return replace(self._extraction(text, name), text=text or None)

    def _extraction(self, text: str, name: str) -> Extraction:
        if self._form in {DocumentFormat.MARKDOWN, DocumentFormat.PLAIN_TEXT}:
            return Extraction(markdown=text, title=title_of(text))
        if not text.strip():
            return Extraction(markdown="")
        if self._form is DocumentFormat.CSV:
            return Extraction(markdown=_table(text) or _fence(text, "csv"))
        if self._form is DocumentFormat.JSON:
            return Extraction(markdown=_fence(_laid_out(text), "json"))
        return Extraction(markdown=_fence(text, extension_of(name)))


def _fence(text: str, language: str) -> str:
    marks = [len(mark) for mark in _BACKTICKS.findall(text)]
    fence = "`" * (max(marks, default=2) + 1)
    named = language if _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{named}\n{text.rstrip()}\n{fence}\n"


def _laid_out(text: str) -> str:
    longest = max(map(len, text.split("\n")))
    if longest < _LONG_LINE or len(text) > _MAX_LAID_OUT_CHARS:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return text


def _table(text: str) -> str | None:
    """Return rows as a Markdown table; None where they are none of a sensible number of columns."""
    told = _TOLD.match(text)
    text = text[told.end() :] if told else text
    delimiter = told[1] if told else _delimiter_of(text)
    if delimiter is None:
        return None
    try:
        rows = [row for row in csv.reader(StringIO(text), delimiter=delimiter) if any(row)]
    except csv.Error:
        return None
    if not rows or max(map(len, rows)) > _MAX_COLUMNS:
        return None
    header, *body = (f"| {' | '.join(map(_cell, row))} |" for row in rows)
    return "\n".join([header, f"|{'---|' * len(rows[0])}", *body]) + "\n"


def _delimiter_of(text: str) -> str | None:
    """Return the mark that most of the first lines have, and have as often as each other."""
    sample = [line for line in text[:65_536].split("\n")[:_SAMPLE_LINES] if line.strip()]
    found = {mark: [line.count(mark) for line in sample if mark in line] for mark in _DELIMITERS}
    best = max(found, key=lambda mark: (len(found[mark]), _alike(found[mark])))
    return best if 2 * len(found[best]) >= len(sample) else None


def _alike(counts: Sequence[int]) -> int:
    """Return how many lines have a mark as often as most do."""
    return max(Counter(counts).values(), default=0)


def _cell(value: str) -> str:
    return " ".join(value.replace("|", "\\|").split())
