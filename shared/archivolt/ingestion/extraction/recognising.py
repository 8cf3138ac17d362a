"""The extractor of every document: it recognises what a document is and asks who can read that."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import MAX_EXTRACTED_CHARS
from archivolt.ingestion.extraction.formats import DocumentFormat, recognise
from archivolt.ports.ingestion import Extraction, Extractor

EXTRACTION_VERSION: Final = "2"
"""Changes when the same document gives another text: an index made before has to be made anew."""


ExtractorFactory = Callable[[], Extractor]


class RecognisingExtractor:
    """An `Extractor` of all formats.

    Args:
        extractors: Makes the extractor of each format, when one is met.

    """

    def __init__(self, extractors: Mapping[DocumentFormat, ExtractorFactory]) -> None:
        self._make = extractors
        self._made: dict[DocumentFormat, Extractor] = {}

    def extract(self, data: bytes, *, name: str) -> Extraction:
        """Return the text of a document.

        Raises:
            UnsupportedContentError: `unsupported_format`, or why it cannot be read:
                `document_encrypted`, `document_broken`, `document_too_slow`.
            TooLargeError: `document_inflates` or `document_too_much_text`.
            UnavailableError: There is no room to read it in just now.

        """
        form = recognise(data, name=name) if data else DocumentFormat.PLAIN_TEXT
        if form is DocumentFormat.ENCRYPTED_OFFICE:
            raise UnsupportedContentError("document_encrypted")
        if form is None or form not in self._make:
            raise UnsupportedContentError("unsupported_format")
        extraction = self._extractor(form).extract(data, name=name)
        if len(extraction.markdown) > MAX_EXTRACTED_CHARS:
            raise TooLargeError("document_too_much_text", limit=MAX_EXTRACTED_CHARS)
        return replace(extraction, markdown=_storable(extraction.markdown))

    def _extractor(self, form: DocumentFormat) -> Extractor:
        if form not in self._made:
            self._made[form] = self._make[form]()
        return self._made[form]


def _storable(text: str) -> str:
    """Return text without halves of surrogate pairs, which no encoding can store."""
    return text.encode("utf-8", "replace").decode("utf-8")
