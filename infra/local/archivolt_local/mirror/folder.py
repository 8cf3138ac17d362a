"""What a mirrored folder holds: the files a vault can take, and why it cannot take the others.

Names that begin with a dot are not looked at. A link is followed when it leads to a file inside the
folder, never out of it and never to a directory.
"""

import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_DOCUMENT_BYTES
from archivolt.domain.messages import Language, reason_for
from archivolt.domain.paths import VaultPath, resolve_path


@dataclass(frozen=True, kw_only=True)
class LocalFile:
    """One file to mirror, as it was seen. `size` in bytes, `modified` in nanoseconds."""

    path: VaultPath
    source: Path
    size: int
    modified: int


@dataclass
class Scan:
    """The files found, by path in the vault, and the reason for each name that was left out."""

    files: dict[VaultPath, LocalFile] = field(default_factory=dict[VaultPath, LocalFile])
    left_out: dict[str, str] = field(default_factory=dict[str, str])


class MirroredFolder:
    """A folder of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    @property
    def present(self) -> bool:
        """Whether the folder is there: an absent one says nothing about its files."""
        return self.root.is_dir()

    def scan(self) -> Scan:
        """Look at everything."""
        return self._collect(self._walk(self.root))

    def look_at(self, places: Iterator[Path]) -> Scan:
        """Look at some files and directories, given by absolute path, and at what is below them."""
        return self._collect(source for place in places for source in self._below(place))

    def vault_path(self, place: Path) -> str:
        """Return where a file of this machine would be in the vault, without checking the name."""
        return unicodedata.normalize("NFC", place.relative_to(self.root).as_posix())

    def _below(self, place: Path) -> Iterator[Path]:
        if not place.is_relative_to(self.root) or self._is_hidden(place) or self._is_behind(place):
            return
        if place.is_dir() and not place.is_symlink():
            yield from self._walk(place)
        elif place.is_file():
            yield place

    def _is_hidden(self, place: Path) -> bool:
        return any(name.startswith(".") for name in place.relative_to(self.root).parts)

    def _is_behind(self, place: Path) -> bool:
        """Tell whether the way to a place leads over a link."""
        way = place.relative_to(self.root).parents
        return any((self.root / directory).is_symlink() for directory in way)

    def _walk(self, directory: Path) -> Iterator[Path]:
        for folder, directories, names in os.walk(directory, followlinks=False):
            directories[:] = sorted(name for name in directories if not name.startswith("."))
            yield from (Path(folder, name) for name in sorted(names) if not name.startswith("."))

    def _collect(self, sources: Iterator[Path]) -> Scan:
        scan = Scan()
        for source in sources:
            self._add(scan, source)
        return scan

    def _add(self, scan: Scan, source: Path) -> None:
        name = self.vault_path(source)
        try:
            if source.is_symlink() and not source.resolve().is_relative_to(self.root):
                scan.left_out[name] = "a link out of the folder"
                return
            found = source.stat()
        except OSError:
            return
        reason = self._refusal(source, found.st_size, scan)
        if reason:
            scan.left_out[name] = reason
        elif source.is_file():
            path = VaultPath(name)
            scan.files[path] = LocalFile(
                path=path, source=source, size=found.st_size, modified=found.st_mtime_ns
            )

    def _refusal(self, source: Path, size: int, scan: Scan) -> str:
        try:
            path = resolve_path(self.vault_path(source))
        except InvalidRequestError as error:
            reason = reason_for(str(error.details["reason"]), Language.EN, error.details)
            return f"a name no vault takes ({reason})"
        # A new directory and its files are reported together: one file may be seen twice.
        if path in scan.files and scan.files[path].source != source:
            return "its name differs from another's by the form of its accents only"
        if size > MAX_DOCUMENT_BYTES:
            return f"more than {MAX_DOCUMENT_BYTES} bytes"
        return ""
