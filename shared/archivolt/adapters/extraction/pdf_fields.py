"""What people filled into the fields of a PDF page, or typed onto it: no text layer has that."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from ctypes import Array, c_ushort
from functools import partial
from typing import Final

import pypdfium2
from pypdfium2 import raw

from archivolt.adapters.extraction.pdf_lines import Line
from archivolt.domain.errors import TooLargeError
from archivolt.domain.limits import MAX_EXTRACTED_CHARS

_FILLED: Final = frozenset(
    {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}
)
# ISO 32000-1, table 228, bit 14.
_PASSWORD: Final = 1 << 13
_UNSEEN: Final = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_MAX_ANNOTATIONS: Final = 1_000
_MAX_BYTES: Final = 2_000_000
# How far below its upper edge the first line of a field ends, in points.
_FIRST_LINE: Final = 15.0
_USUAL_SIZE: Final = 10.0


def prepare_fields(document: pypdfium2.PdfDocument) -> None:
    """Have the fields of a document at hand; its pages are to be opened after this."""
    with suppress(pypdfium2.PdfiumError):
        document.init_forms()


def with_fields(lines: Sequence[Line], page: pypdfium2.PdfPage) -> list[Line]:
    """Return the lines of a page with what its fields say, each after the line at its height.

    Raises:
        TooLargeError: `document_too_much_text`.

    """
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    size = sizes.most_common(1)[0][0] if sizes else _USUAL_SIZE
    # Of lines equally near, the last: what is filled in stands behind its label.
    last = {line.height: at for at, line in enumerate(lines)}
    heights = sorted(last)
    behind: dict[int, list[Line]] = defaultdict(list)
    chars = 0
    for text, height in _filled(page):
        chars += len(text)
        if chars > MAX_EXTRACTED_CHARS:
            raise TooLargeError("document_too_much_text", limit=MAX_EXTRACTED_CHARS)
        above = bisect_left(heights, height)
        near = heights[max(above - 1, 0) : above + 1]
        nearest = min(near, key=lambda at: (abs(at - height), -last[at]), default=None)
        parts = filter(None, map(str.strip, text.splitlines()))
        behind[-1 if nearest is None else last[nearest]] += [
            Line(part, size, height) for part in parts
        ]
    found = behind[-1]
    for at, line in enumerate(lines):
        found += [line, *behind[at]]
    return found


def _filled(page: pypdfium2.PdfPage) -> Iterator[tuple[str, float]]:
    """Yield what each field of a page says, and its height."""
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            text = _said(page, annotation).replace("\0", "").strip()
            place = raw.FS_RECTF()
            if text and raw.FPDFAnnot_GetRect(annotation, place):
                yield text, max(place.bottom, place.top - _FIRST_LINE)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _said(page: pypdfium2.PdfPage, annotation: object) -> str:
    if raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
        return ""
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return _text(partial(raw.FPDFAnnot_GetStringValue, annotation, b"Contents"))
    form = page.formenv
    if kind != raw.FPDF_ANNOT_WIDGET or not form:
        return ""
    if raw.FPDFAnnot_GetFormFieldType(form, annotation) not in _FILLED:
        return ""
    if raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return ""
    return _text(partial(raw.FPDFAnnot_GetFormFieldValue, form, annotation))


def _text(read: Callable[[Array[c_ushort] | None, int], int]) -> str:
    """Return a text of PDFium, which is asked for its length in bytes first."""
    length = read(None, 0)
    if length > _MAX_BYTES:
        return ""
    buffer = (c_ushort * (length // 2 + 1))()
    read(buffer, length)
    return bytes(buffer)[:length].decode("utf-16-le", "replace")
