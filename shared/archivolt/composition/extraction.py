"""Who reads which format; modules that read heavy ones are imported when one is met."""

from collections.abc import Callable, Mapping
from functools import partial

from archivolt.ingestion.extraction.formats import DocumentFormat
from archivolt.ingestion.extraction.plain_text import PlainTextExtractor
from archivolt.ingestion.extraction.recognising import RecognisingExtractor
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
    textual: Mapping[DocumentFormat, Callable[[], Extractor]] = {
        form: partial(PlainTextExtractor, form, _text_of) for form in _TEXTUAL
    }
    return RecognisingExtractor(textual)


def _text_of(data: bytes) -> str | None:
    decoded = decode(data)
    return decoded and decoded.text
