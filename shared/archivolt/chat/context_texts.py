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

from archivolt.domain.errors import TooLargeError, UnsupportedContentError
from archivolt.domain.limits import (
    CONTEXT_TEXT_SECONDS,
    MAX_CONTEXT_FILE_CHARS,
    MAX_KEPT_CONTEXT_CHARS,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultAccess, VaultRef
from archivolt.ports.clock import Clock
from archivolt.vaults.content_types import content_type_of, is_document, is_image
from archivolt.vaults.files import TextPart
from archivolt.vaults.kept_texts import KeptText

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


class DocumentTexts(Protocol):
    """Knows the text of documents that are no text files."""

    def read(self, access: VaultAccess, info: FileInfo) -> KeptText:
        """Return the text of a file as it is now, or raise why there is none."""
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
        files: Reads text files.
        kept: Knows the texts of others.
        clock: The time.

    """

    def __init__(self, files: TextFiles, kept: DocumentTexts, clock: Clock) -> None:
        self._files = files
        self._documents = kept
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
            UnsupportedContentError: There is no text, and why: see `KeptTexts`.
            UnavailableError: The index is down.

        """
        key = (access.vault.ref, path)
        kept = self._of(key)
        if kept and kept.etag == (etag or self._files.info(access, path).etag):
            return kept.found
        found, read = self._found(access, path)
        until = self._clock.now() + timedelta(seconds=CONTEXT_TEXT_SECONDS)
        self._keep(key, _Kept(found=found, etag=read, until=until))
        return found

    def _found(self, access: VaultAccess, path: VaultPath) -> tuple[ContextText, ETag]:
        """Return how a text begins, and of which file; large ones are not fetched to see."""
        kind = content_type_of(path)
        if is_document(kind) or is_image(kind):
            return self._extracted(access, path)
        try:
            part = self._files.read_text(access, path, limit=MAX_CONTEXT_FILE_CHARS)
        except (UnsupportedContentError, TooLargeError):
            return self._extracted(access, path)
        found = ContextText(text=part.text, is_whole=part.next_offset is None)
        return found, part.info.etag

    def _extracted(self, access: VaultAccess, path: VaultPath) -> tuple[ContextText, ETag]:
        info = self._files.info(access, path)
        kept = self._documents.read(access, info)
        text = kept.text[:MAX_CONTEXT_FILE_CHARS]
        is_whole = kept.is_whole and len(text) == len(kept.text)
        return ContextText(text=text, is_whole=is_whole), info.etag

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
