"""Reads images, where there is an engine for it."""

from archivolt.adapters.extraction.image_size import points_of
from archivolt.adapters.extraction.markdown_text import joined, page_mark
from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import MAX_IMAGE_POINTS
from archivolt.ports.ingestion import Extraction, OcrEngine


class ImageExtractor:
    """An `Extractor` of images.

    Args:
        ocr: Reads text in them; without one they stay unread.

    """

    def __init__(self, ocr: OcrEngine | None) -> None:
        self._ocr = ocr

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the text of an image; one of several pages has marks of its pages.

        Raises:
            UnsupportedContentError: `document_broken` or `document_too_slow`.
            TooLargeError: `document_inflates`.

        """
        points = points_of(data)
        if not points:
            raise UnsupportedContentError("document_broken")
        if points > MAX_IMAGE_POINTS:
            raise TooLargeError("document_inflates")
        if self._ocr is None:
            return Extraction(markdown="", unread_pages=1)
        pages = self._ocr.read(data)
        if len(pages) <= 1:
            return Extraction(markdown="".join(pages))
        marked = [joined([page_mark(n), text]) for n, text in enumerate(pages, start=1)]
        return Extraction(markdown=joined(marked), pages=len(pages))
