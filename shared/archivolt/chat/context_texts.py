"""Texts of documents that contexts were made of, kept for a few minutes (O13).

A text is given again only while its file is the one that was read, by its ETag, and to whoever has
just proved that they may read the vault: nothing here gives a right. Secrets are out of it already.
It is one process's own, an optimisation and no more.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from archivolt.domain.limits import (
    CONTEXT_TEXT_SECONDS,
    MAX_CONTEXT_FILE_CHARS,
    MAX_KEPT_CONTEXT_CHARS,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultAccess, VaultRef
from archivolt.ports.clock import Clock
from archivolt.vaults.files import TextPart

# What an entry takes beside its text.
_ENTRY_CHARS: Final = 500


class TextFiles(Protocol):
    """Reads files, without secrets."""

    def info(self, access: VaultAccess, path: VaultPath) -> FileInfo:
        """Return what is known of a file, or raise `file_not_found`."""
        ...

    def read_text(
        self, access: VaultAccess, path: VaultPath, *, offset: int = 0, limit: int | None = None
    ) -> TextPart:
        """Return the beginning of a file's text, or raise `file_not_found` or what it is not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextText:
    """How the text of a file begins, and whether that is all of it."""

    text: str
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    found: ContextText
    etag: ETag
    until: datetime

    @property
    def size(self) -> int:
        return len(self.found.text) + _ENTRY_CHARS


class ContextTexts:
    """Reads the beginnings of files, and remembers them.

    Args:
        files: Reads them.
        clock: The time.

    """

    def __init__(self, files: TextFiles, clock: Clock) -> None:
        self._files = files
        self._clock = clock
        self._kept: OrderedDict[tuple[VaultRef, VaultPath], _Kept] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def read(self, access: VaultAccess, path: VaultPath, *, etag: ETag | None) -> ContextText:
        """Return how the text of a file begins.

        Args:
            access: To its vault.
            path: The file.
            etag: That of the file as it is now, where somebody knows.

        Raises:
            NotFoundError: `file_not_found`.
            UnsupportedContentError: `file_not_text`.
            TooLargeError: `file_too_large`.

        """
        key = (access.vault.ref, path)
        kept = self._of(key)
        if kept and kept.etag == (etag or self._files.info(access, path).etag):
            return kept.found
        part = self._files.read_text(access, path, limit=MAX_CONTEXT_FILE_CHARS)
        found = ContextText(text=part.text, is_whole=part.next_offset is None)
        until = self._clock.now() + timedelta(seconds=CONTEXT_TEXT_SECONDS)
        self._keep(key, _Kept(found=found, etag=part.info.etag, until=until))
        return found

    def _of(self, key: tuple[VaultRef, VaultPath]) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept.until <= self._clock.now():
                return None
            self._kept.move_to_end(key)
            return kept

    def _keep(self, key: tuple[VaultRef, VaultPath], kept: _Kept) -> None:
        with self._lock:
            before = self._kept.pop(key, None)
            self._size += kept.size - (before.size if before else 0)
            self._kept[key] = kept
            while self._size > MAX_KEPT_CONTEXT_CHARS:
                _, oldest = self._kept.popitem(last=False)
                self._size -= oldest.size
