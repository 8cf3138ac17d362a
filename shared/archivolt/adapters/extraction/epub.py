"""Reads electronic books (.epub): the chapters in the order they are read."""

import posixpath
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from archivolt.adapters.extraction.html_page import HtmlExtractor
from archivolt.adapters.extraction.markdown_text import joined
from archivolt.adapters.extraction.office_parts import TitleOf
from archivolt.adapters.extraction.xml_events import Attributes
from archivolt.adapters.extraction.zip_guard import Archive, open_archive
from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import MAX_EXTRACTED_CHARS
from archivolt.ports.ingestion import Extraction

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
# EPUB 3.3, 4.3 and the older one of Adobe: fonts are disguised this way, text is not.
_FONT_METHODS: Final = frozenset(
    ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
)
_PAGES: Final = frozenset(("application/xhtml+xml", "text/html", "text/x-oeb1-document"))


class EpubExtractor:
    """An `Extractor` of electronic books. Their pages depend on the screen, so there are none."""

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the chapters as Markdown.

        Raises:
            UnsupportedContentError: `document_broken`, or `document_encrypted` where the book is
                locked to a reader.
            TooLargeError: `document_inflates` or `document_too_much_text`.

        """
        with open_archive(data) as archive:
            if archive.parse(_ENCRYPTION, _Methods()).methods - _FONT_METHODS:
                raise UnsupportedContentError("document_encrypted")
            package = archive.parse(_CONTAINER, _Container()).package
            if package not in archive:
                raise UnsupportedContentError("document_broken")
            book = archive.parse(package, _Package())
            chapters = _chapters(archive, book, posixpath.dirname(package))
            return Extraction(markdown=joined(list(chapters)), title=book.title)


def _chapters(archive: Archive, book: "_Package", folder: str) -> Iterator[str]:
    reader = HtmlExtractor()
    chars = 0
    for address in book.chapters():
        part = posixpath.normpath(posixpath.join(folder, unquote(address)))
        text = reader.extract(archive.read(part), name=part).markdown
        chars += len(text)
        if chars > MAX_EXTRACTED_CHARS:
            raise TooLargeError("document_too_much_text", limit=MAX_EXTRACTED_CHARS)
        yield text


class _Container:
    def __init__(self) -> None:
        self.package = ""

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "rootfile":
            self.package = self.package or attributes.get("full-path", "")

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:
        """Take text between tags."""


class _Methods(_Container):
    def __init__(self) -> None:
        super().__init__()
        self.methods: set[str] = set()

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "EncryptionMethod":
            self.methods.add(attributes.get("Algorithm", ""))


class _Package(TitleOf):
    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, str] = {}
        self._spine: list[str] = []

    def start(self, name: str, attributes: Attributes) -> None:
        super().start(name, attributes)
        # The table of contents says what the headings say.
        is_contents = "nav" in attributes.get("properties", "").split()
        if name == "item" and attributes.get("media-type") in _PAGES and not is_contents:
            self._items[attributes.get("id", "")] = attributes.get("href", "")
        elif name == "itemref":
            self._spine.append(attributes.get("idref", ""))

    def chapters(self) -> list[str]:
        """Return the addresses of the chapters; one that is listed twice is read once.

        Where the reading order names no page there is, it is that of the pages.
        """
        listed = [self._items[item] for item in dict.fromkeys(self._spine) if item in self._items]
        return listed or list(self._items.values())
