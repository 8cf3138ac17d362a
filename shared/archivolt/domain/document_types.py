"""Types of documents as people name them, and the endings of file names that they stand for.

`pdf`, `.PDF` and `docx` are endings; `word`, `tableur` or `presentation` stand for several.
"""

from collections.abc import Mapping
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.folding import folded

_MAX_ENDING_CHARS: Final = 16

_NOTES: Final = ("md", "mdx", "markdown")
_WORD: Final = ("docx", "doc", "odt", "rtf")
_SHEETS: Final = ("xlsx", "xls", "ods", "csv", "tsv")
_SLIDES: Final = ("pptx", "ppt", "odp")
_MAIL: Final = ("eml", "msg")
_IMAGES: Final = ("png", "jpg", "jpeg", "gif", "webp", "tif", "tiff", "bmp")
_WEB: Final = ("html", "htm", "xhtml")

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("note", "notes", "markdown"), _NOTES),
    **dict.fromkeys(("text", "texte"), ("txt", "text", "log", "rst")),
    **dict.fromkeys(("word", "document", "documents"), _WORD),
    **dict.fromkeys(("excel", "spreadsheet", "spreadsheets", "tableur"), _SHEETS),
    **dict.fromkeys(("powerpoint", "presentation", "presentations", "slides"), _SLIDES),
    **dict.fromkeys(("mail", "mails", "email", "emails", "courriel", "courriels"), _MAIL),
    **dict.fromkeys(("ebook", "ebooks", "livre", "livres"), ("epub",)),
    **dict.fromkeys(("image", "images"), _IMAGES),
    **dict.fromkeys(("web", "page"), _WEB),
}


def endings_of(raw: str) -> tuple[str, ...]:
    """Return the endings, without dot and folded, that a list of types between commas stands for.

    Raises:
        InvalidRequestError: `invalid_type`: it is none, or holds what no ending holds.

    """
    names = [folded(part).strip().removeprefix("*").removeprefix(".") for part in raw.split(",")]
    found = dict.fromkeys(ending for name in names if name for ending in _KINDS.get(name, (name,)))
    if not found or not all(map(_may_end, found)):
        raise InvalidRequestError("invalid_type")
    return tuple(found)


def ends_with(path: str, endings: tuple[str, ...]) -> bool:
    """Tell whether a file's name has one of these endings."""
    name = folded(path.rpartition("/")[2])
    return name.endswith(tuple(f".{ending}" for ending in endings))


def _may_end(ending: str) -> bool:
    return ending.isascii() and ending.isalnum() and len(ending) <= _MAX_ENDING_CHARS
