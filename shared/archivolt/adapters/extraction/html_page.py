"""Reads HTML pages."""

import codecs
import re
from typing import Final

from archivolt.adapters.extraction.charsets import is_charset
from archivolt.adapters.extraction.html_markdown import html_to_markdown
from archivolt.ports.ingestion import Extraction

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# How a page begins in an encoding of two bytes that it has no mark of.
_STARTS: Final = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_CHARSET: Final = re.compile(
    rb"(?:<meta[^>]{0,200}?charset|\A\s*<\?xml[^>]{0,200}?encoding)\s*=\s*[\"']?([\w-]{1,30})",
    re.IGNORECASE,
)
_CHARSET_BYTES: Final = 4_096
# Names that the Encoding standard reads as larger encodings than they are, or Python not at all.
_LABELS: Final = {
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "x-mac-roman": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
}
_PRINTABLE: Final = bytes(range(0x20, 0x7F))


class HtmlExtractor:
    """An `Extractor` of HTML pages."""

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the page as Markdown; it never fails, as browsers do not."""
        markdown, title = html_to_markdown(_decoded(data))
        return Extraction(markdown=markdown, title=title)


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    for start, encoding in _STARTS:
        if data.startswith(start):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_declared(data), "replace")


def _declared(data: bytes) -> str:
    """Return the encoding a page says it has; browsers read cp1252 where it says none.

    It cannot be one in which it could not have been said.
    """
    found = _CHARSET.search(data[:_CHARSET_BYTES])
    said = found.group(1).decode("ascii").lower() if found else "cp1252"
    name = _LABELS.get(said, said)
    if not is_charset(name):
        return "cp1252"
    try:
        is_readable = _PRINTABLE.decode(name, "replace") == _PRINTABLE.decode("ascii")
    except (LookupError, UnicodeError):
        is_readable = False
    return name if is_readable and codecs.lookup(name).name != "iso8859-1" else "cp1252"
