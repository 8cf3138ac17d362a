"""Reads HTML pages."""

import codecs
import re
from typing import Final

from archivolt.adapters.extraction.html_markdown import html_to_markdown
from archivolt.ports.ingestion import Extraction

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w-]{1,30})", re.IGNORECASE)
_CHARSET_BYTES: Final = 4_096


class HtmlExtractor:
    """An `Extractor` of HTML pages."""

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the page as Markdown; it never fails, as browsers do not."""
        markdown, title = html_to_markdown(_decoded(data))
        return Extraction(markdown=markdown, title=title)


def _decoded(data: bytes) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_declared(data), "replace")


def _declared(data: bytes) -> str:
    """Return the encoding a page says it has; browsers read cp1252 where it says none."""
    found = _CHARSET.search(data[:_CHARSET_BYTES])
    name = found.group(1).decode("ascii") if found else "cp1252"
    try:
        "".encode(name)
    except LookupError:
        return "cp1252"
    return "cp1252" if codecs.lookup(name).name == "iso8859-1" else name
