"""Looks at an archive before anything is unpacked: how large it says it becomes, and what is in it.

What it says can be trusted as an upper bound: `zipfile` never unpacks more than the declared size.
"""

import zipfile
from io import BytesIO
from typing import Final

from archivolt.domain.errors import TooLargeError, UnsupportedContentError

_MAX_ENTRIES: Final = 10_000
_MAX_BYTES: Final = 300_000_000
_MAX_RATIO: Final = 500
_RATIO_COUNTS_FROM_BYTES: Final = 5_000_000
_XML: Final = (".xml", ".rels")
_DOCTYPES: Final = tuple("<!DOCTYPE".encode(name) for name in ("utf-8", "utf-16-le", "utf-16-be"))


def check_office_archive(data: bytes) -> None:
    """Refuse an archive that is broken, becomes too large, or declares XML entities.

    Raises:
        UnsupportedContentError: `document_broken`.
        TooLargeError: `document_inflates`.

    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_sizes(entries)
            for entry in entries:
                if entry.filename.lower().endswith(_XML):
                    _check_xml(archive.read(entry))
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        raise UnsupportedContentError("document_broken") from error


def _check_sizes(entries: list[zipfile.ZipInfo]) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > _MAX_ENTRIES or unpacked > _MAX_BYTES:
        raise TooLargeError("document_inflates")
    for entry in entries:
        ratio = entry.file_size / max(1, entry.compress_size)
        if entry.file_size > _RATIO_COUNTS_FROM_BYTES and ratio > _MAX_RATIO:
            raise TooLargeError("document_inflates")


def _check_xml(xml: bytes) -> None:
    # Office writes no document types (ECMA-376 part 2, 9.1.1); entities are declared in them.
    if any(doctype in xml for doctype in _DOCTYPES):
        raise UnsupportedContentError("document_broken")
