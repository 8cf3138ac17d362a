"""Whether what cannot be read is a damaged document: its name says one, and its content nothing."""

from typing import Final

from archivolt.ingestion.extraction.formats import DocumentFormat, extension_of, recognise

_OFFICE: Final = ("docx", "docm", "dotx", "xlsx", "xlsm", "xltx", "pptx", "pptm", "ppsx")
_OPEN: Final = ("odt", "ods", "odp", "epub", "pdf")
_IMAGES: Final = ("png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp")
_NEVER_TEXT: Final = frozenset((*_OFFICE, *_OPEN, *_IMAGES))
# What any extension that nobody knows is taken for, and what none is.
_NO_MARK: Final = frozenset((DocumentFormat.CODE, DocumentFormat.PLAIN_TEXT))
# Containers that are whole, but of something else: their ends, and the mark of old Office files.
_END_OF_ARCHIVE: Final = b"PK\x05\x06"
_OLE: Final = b"\xd0\xcf\x11\xe0"


def is_damaged(data: bytes, *, name: str) -> bool:
    """Tell whether unreadable content is that of no format, though its name says which it is."""
    if extension_of(name) not in _NEVER_TEXT:
        return False
    form = recognise(data, name=name)
    is_other = data.startswith(_OLE) or _END_OF_ARCHIVE in data
    return form in _NO_MARK or (form is None and not is_other)
