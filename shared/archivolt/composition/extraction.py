"""Who reads which format; modules that read heavy ones are imported when one is met."""

from functools import partial
from urllib.parse import urlsplit

from archivolt.adapters.ocr.engines import EngineChoice
from archivolt.domain.limits import MAX_EXTRACTION_SECONDS, SMALL_PAGE_BYTES
from archivolt.ingestion.extraction.formats import DocumentFormat
from archivolt.ingestion.extraction.plain_text import PlainTextExtractor
from archivolt.ingestion.extraction.recognising import (
    EXTRACTION_VERSION,
    ExtractorFactory,
    RecognisingExtractor,
)
from archivolt.ports.ingestion import Extractor
from archivolt.vaults.decoding import decode

_TEXTUAL = (
    DocumentFormat.MARKDOWN,
    DocumentFormat.PLAIN_TEXT,
    DocumentFormat.CODE,
    DocumentFormat.JSON,
    DocumentFormat.CSV,
)
_ISOLATED = {
    DocumentFormat.DOCX: "docx",
    DocumentFormat.XLSX: "xlsx",
    DocumentFormat.PPTX: "pptx",
    DocumentFormat.ODF: "odf",
    DocumentFormat.EPUB: "epub",
    DocumentFormat.MAIL: "eml",
}


def extractor_of_all_formats(
    ocr: EngineChoice | None = None, *, other: Extractor | None = None, other_first: bool = False
) -> Extractor:
    """Return the extractor that reads whatever can be read.

    Args:
        ocr: The engine that reads images, if there is one.
        other: Reads the formats that ours do not.
        other_first: Leave to `other` all that is no text.

    """
    factories: dict[DocumentFormat, ExtractorFactory] = {
        **{form: partial(PlainTextExtractor, form, _text_of) for form in _TEXTUAL},
        **{form: partial(_isolated, name, ocr) for form, name in _ISOLATED.items()},
        DocumentFormat.HTML: _html,
        DocumentFormat.PDF: partial(_isolated, "pdf", ocr),
        DocumentFormat.IMAGE: partial(_isolated, "image", ocr) if ocr else _unread_image,
    }
    left = set(factories) - {*_TEXTUAL, DocumentFormat.HTML} if other_first else ()
    return RecognisingExtractor(factories, other=other, other_first=left)


def tika_reader(url: str) -> Extractor:
    """Return a reader of everything a Tika server reads.

    Args:
        url: Where the server is; this one host is allowed wherever it is, the deployment names it.

    """
    from archivolt.adapters.http.addresses import OutboundRules
    from archivolt.adapters.http.outbound import Caps, guarded_client
    from archivolt.adapters.tika.extractor import TikaExtractor

    host = urlsplit(url).netloc.rpartition("@")[2]
    caps = Caps(seconds=MAX_EXTRACTION_SECONDS)
    return TikaExtractor(guarded_client(OutboundRules.from_setting(host), caps), url)


def extraction_recipe(ocr: EngineChoice | None, *, tika_url: str, tika_formats: str) -> str:
    """Return what the text of a document depends on beside the document."""
    engine = f"+{ocr.engine}/{ocr.languages}" if ocr else ""
    return f"{EXTRACTION_VERSION}{engine}{f'+tika/{tika_formats}' if tika_url else ''}"


def _html() -> Extractor:
    from archivolt.adapters.extraction.html_page import HtmlExtractor
    from archivolt.adapters.extraction.isolated import IsolatedExtractor

    return IsolatedExtractor("html", small=HtmlExtractor(), small_bytes=SMALL_PAGE_BYTES)


def _isolated(form: str, ocr: EngineChoice | None = None) -> Extractor:
    from archivolt.adapters.extraction.isolated import IsolatedExtractor

    return IsolatedExtractor(form, ocr=ocr.arguments() if ocr else ())


def _unread_image() -> Extractor:
    from archivolt.adapters.extraction.image import ImageExtractor

    return ImageExtractor(None)


def _text_of(data: bytes) -> str | None:
    decoded = decode(data)
    return decoded and decoded.text
