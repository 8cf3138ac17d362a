"""`vault://` addresses as clients send them (O23).

Decodes once; refuses to judge the path, which is the resolver's business (`domain.paths`).
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

_SCHEME: Final = "vault://"


@dataclass(frozen=True, slots=True)
class ResourceAddress:
    """A vault, and what in it: a file, or a directory when `path` is empty or ends in a slash."""

    vault: str
    path: str

    @property
    def is_directory(self) -> bool:
        """Whether a listing is asked for."""
        return not self.path or self.path.endswith("/")


def read_address(uri: str) -> ResourceAddress:
    """Return what a URI points at; a fragment (a heading) is the reader's own and is dropped.

    Raises:
        ValueError: It is not a `vault://` URI, or not UTF-8 once decoded.

    """
    if not uri.startswith(_SCHEME):
        raise ValueError("not a vault:// URI")
    vault, _, path = uri.removeprefix(_SCHEME).partition("#")[0].partition("/")
    if not vault:
        raise ValueError("no vault")
    return ResourceAddress(unquote(vault, errors="strict"), unquote(path, errors="strict"))
