"""Reads the images of a document that holds nothing else: a scan in Word, slides as images."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from archivolt.adapters.extraction.image import ImageExtractor
from archivolt.adapters.extraction.image_size import points_of
from archivolt.adapters.extraction.markdown_text import joined
from archivolt.adapters.extraction.zip_guard import open_archive
from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import MAX_OCR_PAGES, MAX_OCR_SECONDS
from archivolt.ports.ingestion import Extraction, Extractor, OcrEngine

_IMAGES: Final = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif", ".bmp")
# Small pictures of the document itself.
_PREVIEWS: Final = ("docProps/", "Thumbnails/")
_PAGE_MARK: Final = re.compile(r"<!-- page \d+ -->")
_LETTER: Final = re.compile(r"\w")
# Logos and bullets are smaller than any page that can be read.
_MIN_POINTS: Final = 90_000


class WithImages:
    """An `Extractor` that looks at images where another one finds no text.

    Args:
        extractor: The other one; it reads a format that is an archive.
        ocr: Reads the images; without one they stay unread.

    """

    def __init__(self, extractor: Extractor, ocr: OcrEngine | None) -> None:
        self._extractor = extractor
        self._image = ImageExtractor(ocr)

    def extract(self, data: bytes, *, name: str) -> Extraction:
        """Return the text, or what the images show where there is none.

        Raises:
            UnsupportedContentError: As the other extractor.
            TooLargeError: As the other extractor.

        """
        until = time.monotonic() + MAX_OCR_SECONDS
        found = self._extractor.extract(data, name=name)
        if _LETTER.search(_PAGE_MARK.sub("", found.markdown)):
            return found
        read = [self._read(image, until) for image in _images(data)]
        texts = [text for text in read if text is not None]
        if not texts:
            return replace(found, unread_pages=len(read))
        return replace(found, markdown=joined(texts), unread_pages=len(read) - len(texts))

    def _read(self, image: bytes, until: float) -> str | None:
        """Return what an image shows, None where it stays unread."""
        if time.monotonic() > until:
            return None
        try:
            found = self._image.extract(image, name="")
        except (UnsupportedContentError, TooLargeError):
            return None
        return None if found.unread_pages else found.markdown


def _images(data: bytes) -> Iterator[bytes]:
    """Yield the images of an archive that are large enough, in the order of their names."""
    with open_archive(data) as archive:
        names = (
            name
            for name in archive.names
            if name.lower().endswith(_IMAGES) and not name.startswith(_PREVIEWS)
        )
        for name in sorted(names, key=_natural)[:MAX_OCR_PAGES]:
            image = archive.read(name)
            if (points_of(image) or 0) >= _MIN_POINTS:
                yield image


def _natural(name: str) -> list[tuple[str, int]]:
    """Return a key that sorts `image10` after `image2`."""
    return [(text, int(part or 0)) for text, part in re.findall(r"(\D*)(\d{0,9})", name)]
