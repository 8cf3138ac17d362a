"""Media types by file extension: a table of our own, the same on every machine.

Which types a browser may show in place is a matter of safety, so it is told here too: a document
is other people's text, and what could run a script is only ever downloaded.
"""

from collections.abc import Mapping
from typing import Final

UNKNOWN: Final = "application/octet-stream"
NOTES: Final = "text/markdown"

_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES: Final[Mapping[str, str]] = {
    "avif": "image/avif",
    "bmp": "image/bmp",
    "c": "text/x-c",
    "cfg": "text/plain",
    "conf": "text/plain",
    "cpp": "text/x-c",
    "css": "text/css",
    "csv": "text/csv",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "eml": "message/rfc822",
    "epub": "application/epub+zip",
    "gif": "image/gif",
    "go": "text/x-go",
    "gz": "application/gzip",
    "h": "text/x-c",
    "htm": "text/html",
    "html": "text/html",
    "ics": "text/calendar",
    "ini": "text/plain",
    "java": "text/x-java",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "log": "text/plain",
    "m4a": "audio/mp4",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "mdx": "text/markdown",
    "mjs": "text/javascript",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "odt": "application/vnd.oasis.opendocument.text",
    "ogg": "audio/ogg",
    "org": "text/plain",
    "pdf": "application/pdf",
    "png": "image/png",
    "pptx": f"{_OFFICE}.presentationml.presentation",
    "py": "text/x-python",
    "rs": "text/x-rust",
    "rst": "text/x-rst",
    "rtf": "application/rtf",
    "sh": "text/x-shellscript",
    "sql": "text/x-sql",
    "svg": "image/svg+xml",
    "tex": "text/x-tex",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "toml": "application/toml",
    "ts": "text/x-typescript",
    "tsv": "text/tab-separated-values",
    "tsx": "text/x-typescript",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
    "xhtml": "application/xhtml+xml",
    "xls": "application/vnd.ms-excel",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}
# What is a document beside what vendors of office programs registered.
_DOCUMENTS: Final = frozenset({"application/epub+zip", "application/pdf", "message/rfc822"})
_SHOWN_IN_PLACE: Final = frozenset(
    {
        "application/pdf",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/wav",
        "image/avif",
        "image/bmp",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
        "text/csv",
        "text/markdown",
        "text/plain",
        "video/mp4",
        "video/webm",
    }
)


def content_type_of(path: str) -> str:
    """Return the media type of a file by its extension, without parameters."""
    extension = path.rpartition("/")[2].rpartition(".")[2].lower()
    return _TYPES.get(extension, UNKNOWN)


def is_image(content_type: str) -> bool:
    """Tell whether a type is one of pictures; those that are drawn in text are not."""
    return content_type.startswith("image/") and content_type != "image/svg+xml"


def is_document(content_type: str) -> bool:
    """Tell whether the text of files of a type has to be extracted, pictures excepted."""
    return content_type in _DOCUMENTS or content_type.startswith("application/vnd.")


def is_shown_in_place(content_type: str) -> bool:
    """Tell whether a browser may show this type; anything else is downloaded."""
    return content_type in _SHOWN_IN_PLACE
