"""Reads OpenDocument texts, sheets and slides (.odt, .ods, .odp)."""

from typing import Final

from archivolt.adapters.extraction.odf_body import OdfBody
from archivolt.adapters.extraction.office_parts import TitleOf
from archivolt.adapters.extraction.zip_guard import open_archive
from archivolt.domain.errors import UnsupportedContentError
from archivolt.ports.ingestion import Extraction

_CONTENT: Final = "content.xml"
# OpenDocument 1.3 part 2, 4.8.2: present on every encrypted part.
_ENCRYPTION: Final = b"encryption-data"


class OdfExtractor:
    """An `Extractor` of OpenDocument files: headings, lists, tables and notes; sheets; slides."""

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the document as Markdown; sheets and slides are pages.

        Raises:
            UnsupportedContentError: `document_broken` or `document_encrypted`.
            TooLargeError: `document_inflates` or `document_too_much_text`.

        """
        with open_archive(data) as archive:
            if _ENCRYPTION in archive.read("META-INF/manifest.xml"):
                raise UnsupportedContentError("document_encrypted")
            if _CONTENT not in archive:
                raise UnsupportedContentError("document_broken")
            title = archive.parse("meta.xml", TitleOf()).title
            body = archive.parse(_CONTENT, OdfBody())
            return Extraction(markdown=body.markdown(), title=title, pages=body.pages or None)
