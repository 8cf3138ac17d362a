"""Who reads which format; modules that read heavy ones are imported when one is met."""

from functools import partial

from archivolt.domain.limits import SMALL_PAGE_BYTES
from archivolt.ingestion.extraction.formats import DocumentFormat
from archivolt.ingestion.extraction.plain_text import PlainTextExtractor
from archivolt.ingestion.extraction.recognising import ExtractorFactory, RecognisingExtractor
from archivolt.ports.ingestion import Extractor
from archivolt.vaults.decoding import decode

_TEXTUAL = (
    DocumentFormat.MARKDOWN,
    DocumentFormat.PLAIN_TEXT,
    DocumentFormat.CODE,
    DocumentFormat.JSON,
    DocumentFormat.CSV,
)


def extractor_of_all_formats() -> Extractor:
    """Return the extractor that reads whatever can be read."""
    factories: dict[DocumentFormat, ExtractorFactory] = {
        **{form: partial(PlainTextExtractor, form, _text_of) for form in _TEXTUAL},
        DocumentFormat.HTML: _html,
        DocumentFormat.PDF: partial(_isolated, "pdf"),
        DocumentFormat.DOCX: partial(_isolated, "docx"),
        DocumentFormat.XLSX: partial(_isolated, "xlsx"),
        DocumentFormat.PPTX: partial(_isolated, "pptx"),
        DocumentFormat.ODF: partial(_isolated, "odf"),
        DocumentFormat.EPUB: partial(_isolated, "epub"),
        DocumentFormat.MAIL: partial(_isolated, "eml"),
    }
    return RecognisingExtractor(factories)


def _html() -> Extractor:
    from archivolt.adapters.extraction.html_page import HtmlExtractor
    from archivolt.adapters.extraction.isolated import IsolatedExtractor

    return IsolatedExtractor("html", small=HtmlExtractor(), small_bytes=SMALL_PAGE_BYTES)


def _isolated(form: str) -> Extractor:
    from archivolt.adapters.extraction.isolated import IsolatedExtractor

    return IsolatedExtractor(form)


def _text_of(data: bytes) -> str | None:
    decoded = decode(data)
    return decoded and decoded.text
