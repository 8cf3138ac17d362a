"""The pages of a PDF that show text only as an image: which they are, what OCR reads in them."""

import time
from collections.abc import Sequence
from contextlib import closing
from typing import Final

import pypdfium2
from pypdfium2 import raw

from archivolt.adapters.extraction.pdf_lines import Line
from archivolt.domain.errors import UnsupportedContentError
from archivolt.domain.limits import MAX_OCR_PAGES
from archivolt.ports.ingestion import OcrEngine

# A page of fewer letters may be a scan that bears a stamp, a number or a header.
_FEW_LETTERS: Final = 100
# The part of such a page that images cover; without letters a smaller one says something too.
_COVERED: Final = 0.5
_SOMETHING: Final = 0.02
# Letters drawn as shapes: a page without text does not need many shapes for anything else.
_MANY_SHAPES: Final = 100
_MAX_OBJECTS: Final = 300
_DPI: Final = 200
_POINTS_PER_INCH: Final = 72
_MAX_SIDE: Final = 4_000


def is_scan(page: pypdfium2.PdfPage, lines: Sequence[Line]) -> bool:
    """Tell whether a page shows text that its text layer does not have."""
    letters = sum(len(line.text) for line in lines)
    if letters >= _FEW_LETTERS:
        return False
    covered, shapes = 0.0, 0
    for number, part in enumerate(page.get_objects(max_depth=4)):
        if number >= _MAX_OBJECTS:
            break
        if part.type == raw.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = part.get_bounds()
            covered += abs((right - left) * (top - bottom))
        shapes += part.type == raw.FPDF_PAGEOBJ_PATH
    share = covered / max(1.0, page.get_width() * page.get_height())
    return share >= _COVERED if letters else share >= _SOMETHING or shapes >= _MANY_SHAPES


def read_scans(
    document: pypdfium2.PdfDocument, numbers: Sequence[int], ocr: OcrEngine, *, until: float
) -> dict[int, str]:
    """Return what is read on pages, by their numbers from 0, as far as time and bounds go.

    Args:
        document: Whose pages they are.
        numbers: The pages, from 0.
        ocr: Reads them.
        until: When no further page is begun, on the monotonic clock.

    """
    read: dict[int, str] = {}
    for number in numbers[:MAX_OCR_PAGES]:
        if time.monotonic() > until:
            break
        try:
            read[number] = "\n\n".join(ocr.read(page_image(document, number), dpi=_DPI))
        except (UnsupportedContentError, pypdfium2.PdfiumError):
            continue  # one page that cannot be read is no reason to lose the others
    return read


def page_image(document: pypdfium2.PdfDocument, number: int) -> bytes:
    """Return a page as a grey image (PGM)."""
    with closing(document[number]) as page:
        side = max(page.get_width(), page.get_height(), 1.0)
        scale = min(_DPI / _POINTS_PER_INCH, _MAX_SIDE / side)
        with closing(page.render(scale=scale, grayscale=True)) as bitmap:
            points = bytes(bitmap.buffer)
            width, height, stride = bitmap.width, bitmap.height, bitmap.stride
    rows = (points[start : start + width] for start in range(0, stride * height, stride))
    return b"P5 %d %d 255\n" % (width, height) + b"".join(rows)
