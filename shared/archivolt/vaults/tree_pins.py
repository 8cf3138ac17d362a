"""What a change of a whole directory is bound to: a fingerprint of each file in it.

Thousands of ETags do not fit into a confirmation; four bytes of each file's path and ETag do. A
file that changed passes for unchanged once in a hundred thousand times in a tree of forty thousand;
its content is a version then, as that of every deleted file is.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Final

from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import FileInfo

_SIZE: Final = 4


def tree_pins(directory: VaultPath, files: Iterable[FileInfo]) -> Mapping[str, str]:
    """Return what a change of this directory is bound to."""
    prints = b"".join(_fingerprint(file) for file in files)
    return {_name(directory): b64encode(prints).decode("ascii")}


class PinnedTree:
    """Tells which files of a directory are as they were when a change was confirmed."""

    def __init__(self, directory: VaultPath, pins: Mapping[str, str]) -> None:
        prints = b64decode(pins.get(_name(directory), ""))
        self._prints = {prints[at : at + _SIZE] for at in range(0, len(prints), _SIZE)}

    def has(self, file: FileInfo) -> bool:
        """Tell whether the file was there, with this content."""
        return _fingerprint(file) in self._prints


def _name(directory: VaultPath) -> str:
    return f"{directory}/"


def _fingerprint(file: FileInfo) -> bytes:
    return hashlib.sha256(f"{file.path}\0{file.etag}".encode()).digest()[:_SIZE]
