"""Reads images, where there is an engine for it."""

import time

from archivolt.adapters.extraction.image_size import page_at, page_places, points_of
from archivolt.adapters.extraction.markdown_text import joined, page_mark
from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import MAX_IMAGE_POINTS, MAX_OCR_PAGES, MAX_OCR_SECONDS
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
            UnsupportedContentError: `document_broken` or `document_too_slow`: no page could be
                read, or there was no time for any.
            TooLargeError: `document_inflates`.

        """
        until = time.monotonic() + MAX_OCR_SECONDS
        points = points_of(data)
        if not points:
            raise UnsupportedContentError("document_broken")
        if points > MAX_IMAGE_POINTS:
            raise TooLargeError("document_inflates")
        if self._ocr is None:
            return Extraction(markdown="", unread_pages=1)
        texts = _read(self._ocr, data, until)
        read = [text for text in texts if text is not None]
        if len(texts) == 1:
            return Extraction(markdown="".join(read))
        marked = [joined([page_mark(n), text or ""]) for n, text in enumerate(texts, start=1)]
        return Extraction(
            markdown=joined(marked), pages=len(texts), unread_pages=len(texts) - len(read)
        )


def _read(ocr: OcrEngine, data: bytes, until: float) -> list[str | None]:
    """Return the text of each page, None of one that stays unread.

    They are read one by one: all of them may take longer than an engine is given for an image.

    Raises:
        UnsupportedContentError: None was read.

    """
    texts: list[str | None] = []
    failure = UnsupportedContentError("document_too_slow")
    places = page_places(data)
    for place in places[:MAX_OCR_PAGES]:
        if time.monotonic() > until:
            break
        try:
            texts += ocr.read(page_at(data, place)) or [""]
        except UnsupportedContentError as error:
            failure = error
            texts.append(None)
    if all(text is None for text in texts):
        raise failure
    return texts + [None] * (len(places) - len(texts))
