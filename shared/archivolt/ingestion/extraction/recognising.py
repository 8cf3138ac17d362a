"""The extractor of every document: it recognises what a document is and asks who can read that."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import MAX_EXTRACTED_CHARS
from archivolt.ingestion.extraction.damaged import is_damaged
from archivolt.ingestion.extraction.formats import DocumentFormat, recognise
from archivolt.ports.ingestion import Extraction, Extractor

EXTRACTION_VERSION: Final = "4"
"""Changes when the same document gives another text: an index made before has to be made anew."""

# Pictures and files written as text: no word is so long, and none of these is ever looked for.
# They are written in one of two alphabets (RFC 4648, 4 and 5), paths and names in both.
_ENCODED: Final = re.compile(
    r"(?:(?<![\w+/])[A-Za-z0-9+/]{1000,}+(?![_-])|(?<![\w-])[A-Za-z0-9_-]{1000,}+)={0,2}"
)
# Twice what chance gives: two of the 64 letters of base64. In paths and names they part words.
_MAX_SIGNS_SHARE: Final = 1 / 16
_SIGNS: Final = "+/-_"
# A letter or digit in a line that opens no fence.
_WORDS: Final = re.compile(r"^(?!```).*[^\W_]", re.MULTILINE)
_ELLIPSIS: Final = "\u2026"

ExtractorFactory = Callable[[], Extractor]


class RecognisingExtractor:
    """An `Extractor` of all formats.

    Args:
        extractors: Makes the extractor of each format, when one is met.
        other: Reads what none of these reads: other formats, and images where they stay unread.
        other_first: The formats that are left to `other` altogether.

    """

    def __init__(
        self,
        extractors: Mapping[DocumentFormat, ExtractorFactory],
        *,
        other: Extractor | None = None,
        other_first: Collection[DocumentFormat] = (),
    ) -> None:
        self._make = extractors
        self._made: dict[DocumentFormat, Extractor] = {}
        self._other = other
        self._other_first = frozenset(other_first)

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
        try:
            extraction = self._read(form, data, name)
        except UnsupportedContentError as error:
            if error.code == "unsupported_format" and is_damaged(data, name=name):
                raise UnsupportedContentError("document_broken") from error
            raise
        markdown = _without_encoded(extraction.markdown)
        if len(markdown) > MAX_EXTRACTED_CHARS:
            raise TooLargeError("document_too_much_text", limit=MAX_EXTRACTED_CHARS)
        return replace(extraction, markdown=_storable(markdown))

    def _read(self, form: DocumentFormat | None, data: bytes, name: str) -> Extraction:
        own = self._own(form)
        if own is None:
            return self._read_otherwise(data, name)
        try:
            found = own.extract(data, name=name)
        except UnsupportedContentError as error:
            # What its name says is text, and is none.
            if error.code != "unsupported_format":
                raise
            return self._read_otherwise(data, name)
        return self._with_images(found, data, name) if found.unread_pages else found

    def _own(self, form: DocumentFormat | None) -> Extractor | None:
        if form is None or (self._other and form in self._other_first):
            return None
        if form not in self._made and form in self._make:
            self._made[form] = self._make[form]()
        return self._made.get(form)

    def _read_otherwise(self, data: bytes, name: str) -> Extraction:
        if self._other is None:
            raise UnsupportedContentError("unsupported_format")
        return self._other.extract(data, name=name)

    def _with_images(self, found: Extraction, data: bytes, name: str) -> Extraction:
        """Return what is read otherwise, if that is more: an engine may stand behind it."""
        try:
            more = self._read_otherwise(data, name)
        except UnsupportedContentError:
            return found
        return more if len(more.markdown) > len(found.markdown) else found


def _without_encoded(text: str) -> str:
    """Return text without what is base64 in it; nothing where there is nothing else."""
    kept = _ENCODED.sub(_told, text)
    return kept if kept == text or _WORDS.search(kept) else ""


def _told(encoded: re.Match[str]) -> str:
    """Return what is kept of a long run of letters: all of it, unless it is base64."""
    run = encoded[0]
    is_base64 = all(any(map(kind, run)) for kind in (str.islower, str.isupper, str.isdigit))
    signs = sum(map(run.count, _SIGNS))
    return _ELLIPSIS if is_base64 and signs <= len(run) * _MAX_SIGNS_SHARE else run


def _storable(text: str) -> str:
    """Return text without halves of surrogate pairs, which no encoding can store."""
    return text.encode("utf-8", "replace").decode("utf-8")
