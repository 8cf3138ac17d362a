"""The lines of a PDF page, each with the size and height of its first letter."""

import re
import sys
from collections.abc import Iterator
from ctypes import c_double
from dataclasses import dataclass
from typing import Final

import pypdfium2
from pypdfium2 import raw

BREAKS: Final = ("\x02", "\ufffe")
"""How PDFium writes a hyphen that broke a word at the end of a line."""

_UNUSED: Final = str.maketrans("", "", "\0\uffff")
_LINE: Final = re.compile(r"[^\r\n]+")
_SURROGATES: Final = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class Line:
    """A line's text without blanks around it, its font size and its height, both in points."""

    text: str
    size: float
    height: float


def lines_of(page: pypdfium2.PdfPage) -> list[Line]:
    """Return the lines of a page in reading order."""
    text_page = page.get_textpage()
    try:
        return [
            Line(text, *_placed(text_page, first)) for text, first in _texts(_characters(text_page))
        ]
    finally:
        text_page.close()


def _characters(text_page: pypdfium2.PdfTextPage) -> str:
    """Return one character for each that PDFium counts, so that places can be asked for."""
    count = text_page.count_chars()
    text = text_page.get_text_range() if count > 0 else ""
    if len(text) == count:
        return text
    codes = (raw.FPDFText_GetUnicode(text_page.raw, index) for index in range(count))
    return "".join(
        chr(code) if code <= sys.maxunicode and code not in _SURROGATES else " " for code in codes
    )


def _texts(characters: str) -> Iterator[tuple[str, int]]:
    """Yield each line that is not blank, with the index of its first letter."""
    for line in _LINE.finditer(characters):
        text = line.group()
        if text.strip():
            first = line.start() + len(text) - len(text.lstrip())
            yield text.translate(_UNUSED).strip(), first


def _placed(text_page: pypdfium2.PdfTextPage, index: int) -> tuple[float, float]:
    x, y = c_double(), c_double()
    raw.FPDFText_GetCharOrigin(text_page.raw, index, x, y)
    return round(raw.FPDFText_GetFontSize(text_page.raw, index), 1), y.value
