"""What a document is: its content decides, its name only where the content leaves a choice.

Nothing is opened or decompressed to tell: a hostile document costs one look at its bytes.
"""

import re
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
    ENCRYPTED_OFFICE = auto()


_BY_EXTENSION: Final = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mdx"), DocumentFormat.MARKDOWN),
    **dict.fromkeys(("txt", "text", "rst", "adoc", "asciidoc", "org"), DocumentFormat.PLAIN_TEXT),
    **dict.fromkeys(("html", "htm", "xhtml"), DocumentFormat.HTML),
    **dict.fromkeys(("csv", "tsv"), DocumentFormat.CSV),
    "json": DocumentFormat.JSON,
}

# ISO 32000-1, annex H.3.4.1: readers accept a header within the first 1,024 bytes.
_PDF_HEADER_BYTES: Final = 1_024
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML: Final = re.compile(rb"\s*(?:<!--.{0,500}?-->\s*)*<(!doctype\s+html|html)\b", re.I | re.S)
_HTML_BYTES: Final = 4_096
_BOMS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_RTF: Final = b"{\\rtf"


def recognise(data: bytes, *, name: str) -> DocumentFormat | None:
    """Return what a document is, or None if it is nothing that can be read.

    Text that no extension names is plain text; whether it is text at all, decoding tells.
    """
    if b"%PDF-" in data[:_PDF_HEADER_BYTES]:
        return DocumentFormat.PDF
    if data.startswith(_ZIP):
        return DocumentFormat.DOCX if b"word/document.xml" in data else None
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
