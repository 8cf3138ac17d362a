"""Looks at an archive before anything is unpacked: how large it says it becomes, and what is in it.

What it says can be trusted as an upper bound: `zipfile` never unpacks more than the declared size.
"""

import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import Final, TypeVar

from archivolt.adapters.extraction.xml_events import XmlHandler, read_xml
from archivolt.domain.errors import TooLargeError, UnsupportedContentError

HandlerT = TypeVar("HandlerT", bound=XmlHandler)

_MAX_ENTRIES: Final = 10_000
_MAX_BYTES: Final = 300_000_000
_MAX_RATIO: Final = 500
_RATIO_COUNTS_FROM_BYTES: Final = 5_000_000
_DAMAGES: Final = (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError)
# APPNOTE.TXT 4.4.4, bit 0.
_ENCRYPTED: Final = 0x1
_XML: Final = (".xml", ".rels")
_DOCTYPES: Final = tuple("<!DOCTYPE".encode(name) for name in ("utf-8", "utf-16-le", "utf-16-be"))


class Archive:
    """The parts of a document that is an archive. Nothing in it is opened but by name."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.names = frozenset(archive.namelist())

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def read(self, name: str) -> bytes:
        """Return a part's bytes, none where there is no such part."""
        return self._archive.read(name) if name in self.names else b""

    def parse(self, name: str, handler: HandlerT) -> HandlerT:
        """Give a part to a handler and return the handler; a part that is not there says nothing.

        Raises:
            UnsupportedContentError: `document_broken`: it is no proper XML.

        """
        if name in self.names:
            with self._archive.open(name) as part:
                read_xml(part, handler)
        return handler

    def parse_beside(self, name: str, handler: HandlerT) -> HandlerT:
        """Give what stands beside the text to a handler, as far as it can be read.

        A damaged title or chart is no reason to lose the text.
        """
        with suppress(UnsupportedContentError, zlib.error, *_DAMAGES):
            self.parse(name, handler)
        return handler


@contextmanager
def open_archive(data: bytes) -> Generator[Archive, None, None]:
    """Open an archive that is whole, not encrypted, and becomes of a bearable size.

    Raises:
        UnsupportedContentError: `document_broken` or `document_encrypted`.
        TooLargeError: `document_inflates`.

    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            _check_entries(archive.infolist())
            yield Archive(archive)
    except _DAMAGES as error:
        raise UnsupportedContentError("document_broken") from error


def check_office_archive(data: bytes) -> None:
    """Refuse an archive that is broken, becomes too large, or declares XML entities.

    Raises:
        UnsupportedContentError: `document_broken`.
        TooLargeError: `document_inflates`.

    """
    with open_archive(data) as archive:
        for name in archive.names:
            if is_xml(name):
                _check_xml(archive.read(name))


def is_xml(name: str) -> bool:
    """Tell whether a part of an Office document is XML, as all that is read of it is."""
    return name.lower().endswith(_XML)


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > _MAX_ENTRIES or unpacked > _MAX_BYTES:
        raise TooLargeError("document_inflates")
    for entry in entries:
        ratio = entry.file_size / max(1, entry.compress_size)
        if entry.file_size > _RATIO_COUNTS_FROM_BYTES and ratio > _MAX_RATIO:
            raise TooLargeError("document_inflates")
        if entry.flag_bits & _ENCRYPTED:
            raise UnsupportedContentError("document_encrypted")


def _check_xml(xml: bytes) -> None:
    # Office writes no document types (ECMA-376 part 2, 9.1.1); entities are declared in them.
    if any(doctype in xml for doctype in _DOCTYPES):
        raise UnsupportedContentError("document_broken")
