"""Writes of one file that lose nothing and happen once.

A change is bound to the version it was made for (its pin): any other current version is a conflict
that shows how it differs from what the caller wanted. Each version carries the operation that wrote
it, so that a change that is run again knows its own effect, also below later ones.
"""

from collections.abc import Mapping

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import (
    ConflictError,
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from archivolt.domain.limits import MAX_INLINE_CONTENT_BYTES
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileContent, FileInfo, VaultAccess, VaultRef, WriteMarks
from archivolt.ports.files import FileStore
from archivolt.vaults.content_types import content_type_of
from archivolt.vaults.diffs import redacted_diff
from archivolt.vaults.text_form import TextForm

# How many versions are looked at for an effect of an earlier attempt.
_MAX_LOOKED_AT = 50
NO_FILE = "/dev/null"


class ConfirmedWrites:
    """Reads and writes whole files for the services that change them."""

    def __init__(self, store: FileStore) -> None:
        self.store = store

    def read(self, vault: VaultRef, path: VaultPath) -> FileContent:
        """Return a whole file.

        Raises:
            NotFoundError: `file_not_found`.
            TooLargeError: `file_too_large`.

        """
        content = self.store.read(vault, path, max_bytes=MAX_INLINE_CONTENT_BYTES)
        if content.truncated:
            size, limit = content.info.size, MAX_INLINE_CONTENT_BYTES
            raise TooLargeError("file_too_large", path=path, size=size, limit=limit)
        return content

    def head(self, vault: VaultRef, path: VaultPath) -> FileInfo | None:
        """Return what is known of a file; None if there is none."""
        try:
            return self.store.head(vault, path)
        except NotFoundError:
            return None

    def own_effect(self, vault: VaultRef, path: VaultPath, confirmed: Confirmed) -> FileInfo | None:
        """Return the version that this very operation wrote earlier, if it did.

        It stands above the pinned one; a content that comes back has the same ETag, so that an
        operation that is resumed looks further.
        """
        pin = confirmed.pins.get(path)
        for version in self.store.versions(vault, path)[:_MAX_LOOKED_AT]:
            if version.deletion:
                continue
            info = self.store.head(vault, path, version=version.version)
            if info.operation == confirmed.operation:
                return info
            if version.etag == pin and not confirmed.resumed:
                return None
        return None

    def create(
        self, vault: VaultRef, path: VaultPath, data: bytes, confirmed: Confirmed
    ) -> FileInfo:
        """Write a new file, once.

        Raises:
            TooLargeError: `content_too_large`.
            ConflictError: `file_exists`.

        """
        require_size(data)
        marks = WriteMarks(operation=confirmed.operation)
        kind = content_type_of(path)
        try:
            return self.store.create(vault, path, data, content_type=kind, marks=marks)
        except ConflictError:
            own = self.own_effect(vault, path, confirmed)
            if own is None:
                raise
            return own

    def replace(
        self, access: VaultAccess, current: FileInfo, data: bytes, confirmed: Confirmed
    ) -> FileInfo:
        """Write a new version over `current`.

        Raises:
            TooLargeError: `content_too_large`.
            ConflictError: `conflict`, with the ETag that is current and a diff.

        """
        require_size(data)
        vault, path = access.vault.ref, current.path
        marks = WriteMarks(
            created=current.created,
            operation=confirmed.operation,
            moved_from=current.moved_from,
        )
        kind = content_type_of(path)
        try:
            return self.store.replace(
                vault, path, data, expected=current.etag, content_type=kind, marks=marks
            )
        except ConflictError as error:
            raise self.conflict(vault, path, wanted=data) from error

    def pinned(
        self,
        access: VaultAccess,
        path: VaultPath,
        confirmed: Confirmed,
        *,
        wanted: str | None = None,
    ) -> FileContent | FileInfo:
        """Return the version that a change is based on; or, if it is done already, its outcome.

        `wanted` is the text that the caller would make of the file; without it a conflict shows
        how the file has changed since.

        Raises:
            NotFoundError: `file_not_found`.
            ConflictError: `conflict`: another version is current.

        """
        vault = access.vault.ref
        try:
            current = self.read(vault, path)
        except NotFoundError:
            own = self.own_effect(vault, path, confirmed)
            if own is None:
                raise
            return own
        if current.info.operation == confirmed.operation:
            return current.info
        is_pinned = current.info.etag == confirmed.pins.get(path)
        if is_pinned and not confirmed.resumed:
            return current
        own = self.own_effect(vault, path, confirmed)
        if own is None and is_pinned:
            return current
        if own is None and wanted is None:
            raise self._conflict_since(current, vault, confirmed.pins.get(path, ""))
        if own is None:
            raise conflict_between(current, wanted)
        return own

    def conflict_since(self, vault: VaultRef, path: VaultPath, etag: str) -> ConflictError:
        """Return the error that says how a file has changed since its version of this ETag."""
        try:
            current = self.read(vault, path)
        except (NotFoundError, TooLargeError):
            return ConflictError("conflict", etag="", diff="")
        return self._conflict_since(current, vault, etag)

    def _conflict_since(self, current: FileContent, vault: VaultRef, etag: str) -> ConflictError:
        before = self.version_of(vault, current.info.path, etag)
        form = TextForm.of(before.data) if before else None
        return conflict_between(current, form.text if form else None, since=True)

    def version_of(self, vault: VaultRef, path: VaultPath, etag: str) -> FileContent | None:
        """Return the newest version with this ETag, if it is not too old or too large."""
        for version in self.store.versions(vault, path)[:_MAX_LOOKED_AT]:
            if version.etag == etag and not version.deletion:
                if version.size > MAX_INLINE_CONTENT_BYTES:
                    return None
                return self.store.read(vault, path, version=version.version)
        return None

    def conflict(self, vault: VaultRef, path: VaultPath, *, wanted: bytes) -> ConflictError:
        """Return the error that says how the current version differs from what was wanted."""
        form = TextForm.of(wanted)
        try:
            current = self.read(vault, path)
        except (NotFoundError, TooLargeError):
            return ConflictError("conflict", etag="", diff="")
        return conflict_between(current, form.text if form else None)


def conflict_between(
    current: FileContent, other: str | None, *, since: bool = False
) -> ConflictError:
    """Return the error that says how `current` differs from the text that was wanted.

    With `since`, `other` is what the file was, and the diff leads from there to what it is.
    """
    form = TextForm.of(current.data)
    path = current.info.path
    diff = ""
    if form is not None and other is not None:
        old, new = (other, form.text) if since else (form.text, other)
        diff = redacted_diff(old, new, old_name=path, new_name=path).text
    return ConflictError("conflict", etag=current.info.etag, diff=diff)


def text_of(content: FileContent) -> TextForm:
    """Return a file as text.

    Raises:
        UnsupportedContentError: `file_not_text`.

    """
    form = TextForm.of(content.data)
    if form is None:
        raise UnsupportedContentError("file_not_text", path=content.info.path)
    return form


def require_size(data: bytes) -> None:
    """Check that a text may be kept.

    Raises:
        TooLargeError: `content_too_large`.

    """
    if len(data) > MAX_INLINE_CONTENT_BYTES:
        raise TooLargeError("content_too_large", size=len(data), limit=MAX_INLINE_CONTENT_BYTES)


def pin_of(info: FileInfo | None, path: VaultPath) -> Mapping[str, str]:
    """Return what a change of this file is bound to."""
    return {path: info.etag if info else ETag("")}
