"""Reads PDF documents: their text layer, and by OCR the pages that have none."""

import time
from collections.abc import Iterator
from contextlib import closing

import pypdfium2
from pypdfium2 import raw

from archivolt.adapters.extraction.pdf_fields import prepare_fields, with_fields
from archivolt.adapters.extraction.pdf_layout import Outline, PdfLayout, simplified
from archivolt.adapters.extraction.pdf_lines import Line, lines_of
from archivolt.adapters.extraction.pdf_scans import is_scan, read_scans
from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import MAX_EXTRACTED_CHARS, MAX_OCR_SECONDS
from archivolt.ports.ingestion import Extraction, OcrEngine


class PdfExtractor:
    """An `Extractor` of PDF documents: pages, headings, paragraphs.

    Args:
        ocr: Reads scanned pages; without one they stay unread.

    """

    def __init__(self, ocr: OcrEngine | None) -> None:
        self._ocr = ocr

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the text of every page.

        Raises:
            UnsupportedContentError: `document_encrypted`, `document_broken`, or
                `document_too_slow`: there was no time for even one of its scanned pages.
            TooLargeError: `document_too_much_text`.

        """
        until = time.monotonic() + MAX_OCR_SECONDS
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            encrypted = error.err_code == raw.FPDF_ERR_PASSWORD
            code = "document_encrypted" if encrypted else "document_broken"
            raise UnsupportedContentError(code) from error
        with closing(document):
            prepare_fields(document)
            scanned: list[int] = []
            pages = list(_pages(document, scanned))
            scans = read_scans(document, scanned, self._ocr, until=until) if self._ocr else {}
            if self._ocr and not (any(pages) or scans) and scanned:
                raise UnsupportedContentError("document_too_slow")
            layout = PdfLayout(pages, _outline(document), scans)
            title = " ".join(document.get_metadata_value("Title").replace("\0", "").split())
            markdown = layout.markdown()
            return Extraction(
                markdown=markdown,
                title=title or layout.first_heading,
                pages=len(pages),
                unread_pages=len(scanned) - len(scans),
            )


def _pages(document: pypdfium2.PdfDocument, scanned: list[int]) -> Iterator[list[Line]]:
    """Yield the lines of each page; add to `scanned` the numbers of those that are images."""
    chars = 0
    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError:
            yield []  # one broken page is no reason to lose the others
            continue
        with closing(page):
            lines = lines_of(page)
            if is_scan(page, lines):
                scanned.append(number)
            lines = with_fields(lines, page)
        chars += sum(len(line.text) for line in lines)
        if chars > MAX_EXTRACTED_CHARS:
            raise TooLargeError("document_too_much_text", limit=MAX_EXTRACTED_CHARS)
        yield lines


def _outline(document: pypdfium2.PdfDocument) -> Outline:
    """Return where each title of the outline leads to: its simplified text to page and level."""
    outline: Outline = {}
    for entry in document.get_toc():
        target = entry.get_dest()
        page = target.get_index() if target else None
        outline.setdefault(simplified(entry.get_title()), []).append((page, entry.level + 1))
    return outline
