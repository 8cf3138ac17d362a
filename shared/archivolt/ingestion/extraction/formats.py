"""What a document is: its content decides, its name only where the content leaves a choice.

Nothing is opened or decompressed to tell: a hostile document costs one look at its bytes.
"""

import re
import struct
from enum import Enum, auto
from typing import Final

from archivolt.domain.paths import name_of


class DocumentFormat(Enum):
    """What can be read."""

    MARKDOWN = auto()
    PLAIN_TEXT = auto()
    CODE = auto()
    JSON = auto()
    CSV = auto()
    HTML = auto()
    PDF = auto()
    DOCX = auto()
    XLSX = auto()
    PPTX = auto()
    ODF = auto()
    EPUB = auto()
    MAIL = auto()
    IMAGE = auto()
    ENCRYPTED_OFFICE = auto()


_BY_EXTENSION: Final = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mdx"), DocumentFormat.MARKDOWN),
    **dict.fromkeys(("txt", "text", "rst", "adoc", "asciidoc", "org"), DocumentFormat.PLAIN_TEXT),
    **dict.fromkeys(("html", "htm", "xhtml"), DocumentFormat.HTML),
    **dict.fromkeys(("csv", "tsv"), DocumentFormat.CSV),
    "json": DocumentFormat.JSON,
    "eml": DocumentFormat.MAIL,
}

# What an archive of each format holds, as its table of contents or its first entry says.
_ARCHIVES: Final = (
    # Programs on the web number the main part.
    (re.compile(rb"word/document\d{0,3}\.xml"), DocumentFormat.DOCX),
    (re.compile(rb"xl/workbook\d{0,3}\.xml"), DocumentFormat.XLSX),
    (re.compile(rb"ppt/presentation\d{0,3}\.xml"), DocumentFormat.PPTX),
    (re.compile(rb"META-INF/container\.xml"), DocumentFormat.EPUB),
    (re.compile(rb"META-INF/manifest\.xml"), DocumentFormat.ODF),
)
_MIMETYPES: Final = (
    (b"application/epub+zip", DocumentFormat.EPUB),
    *(
        (b"application/vnd.oasis.opendocument." + kind, DocumentFormat.ODF)
        for kind in (b"text", b"spreadsheet", b"presentation")
    ),
)
# An archive's `mimetype` comes first and uncompressed (OpenDocument 1.3 part 2, 3.3), but for
# those that people packed again.
_FIRST_ENTRY_BYTES: Final = 200
# The end of an archive, with the size and place of its table of contents (APPNOTE.TXT 4.3.16).
_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22

# ISO 32000-1, annex H.3.4.1: readers accept a header within the first 1,024 bytes.
_PDF_HEADER_BYTES: Final = 1_024
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML: Final = re.compile(rb"\s*(?:<!--.{0,500}?-->\s*)*<(!doctype\s+html|html)\b", re.I | re.S)
_HTML_BYTES: Final = 4_096
_BOMS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_RTF: Final = b"{\\rtf"
_IMAGES: Final = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|II\*\0|MM\0\*|RIFF.{4}WEBP"
    # The mark of a GIF is letters: what is said of its screen tells it from text.
    rb"|GIF8[79]a(?=.{0,6}\0)"
    # A bitmap's mark is two letters: the size of its second head tells it from text.
    rb"|BM.{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0",
    re.S,
)


def recognise(data: bytes, *, name: str) -> DocumentFormat | None:
    """Return what a document is, or None if it is nothing that can be read.

    Text that no extension names is plain text; whether it is text at all, decoding tells.
    """
    if b"%PDF-" in data[:_PDF_HEADER_BYTES]:
        return DocumentFormat.PDF
    if data.startswith(_ZIP):
        return _archive_format(data)
    if _IMAGES.match(data):
        return DocumentFormat.IMAGE
    if data.startswith(_OLE):
        # A password turns an Office file into a container with this stream (MS-OFFCRYPTO 2.3.4.4).
        encrypted = "EncryptedPackage".encode("utf-16-le") in data
        return DocumentFormat.ENCRYPTED_OFFICE if encrypted else None
    if data.startswith(_RTF):
        return None
    return _text_format(data, extension_of(name))


def extension_of(name: str) -> str:
    """Return a name's extension in lower case, without the dot; "" where there is none."""
    stem, dot, extension = name_of(name).rpartition(".")
    return extension.lower() if dot and stem else ""


def _archive_format(data: bytes) -> DocumentFormat | None:
    first = data[:_FIRST_ENTRY_BYTES]
    for mimetype, form in _MIMETYPES:
        if mimetype in first:
            return form
    contents = _table_of_contents(data)
    return next((form for name, form in _ARCHIVES if name.search(contents)), None)


def _table_of_contents(data: bytes) -> bytes:
    """Return where an archive names its entries; all of it where it does not say.

    The entries of an archive inside it, such as a sheet in a presentation, are not named there.
    """
    end = data.rfind(_END)
    if end < 0 or len(data) < end + _END_BYTES:
        return data
    size, start = struct.unpack_from("<II", data, end + 12)
    return data[start : start + size] or data


def _text_format(data: bytes, extension: str) -> DocumentFormat:
    named = _BY_EXTENSION.get(extension)
    html = _HTML.match(_without_bom(data[:_HTML_BYTES]))
    # A Markdown file may well begin with an HTML tag, but not with a document type.
    if html and (named is not DocumentFormat.MARKDOWN or html.group(1).startswith(b"!")):
        return DocumentFormat.HTML
    if named:
        return named
    return DocumentFormat.CODE if extension else DocumentFormat.PLAIN_TEXT


def _without_bom(data: bytes) -> bytes:
    for mark in _BOMS:
        data = data.removeprefix(mark)
    return data.replace(b"\0", b"")
