"""Carries single changes into a vault, without ever touching what it did not write itself."""

import hashlib
from datetime import UTC, datetime
from enum import Enum

from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultRef, WriteMarks
from archivolt.ports.files import FileStore
from archivolt.vaults.content_types import content_type_of
from archivolt_local.mirror.changes import Change, Remove, Write
from archivolt_local.mirror.folder import LocalFile
from archivolt_local.mirror.manifest import NOT_OURS, Manifest, Written


class Outcome(Enum):
    """What became of a change."""

    DONE = "done"
    NOTHING_TO_DO = "nothing to do"
    NOT_OURS = "the vault has a version of its own, which stays"
    UNSTABLE = "the file is still being written"


class VaultWriter:
    """Writes one folder's files into one vault. Every write and deletion is conditional."""

    def __init__(self, vault: VaultRef, files: FileStore, manifest: Manifest) -> None:
        self._vault = vault
        self._files = files
        self._manifest = manifest

    def apply(self, change: Change) -> Outcome:
        """Carry out one change; repeating it does no harm.

        Raises:
            UnavailableError: The store does not answer; nothing was recorded.

        """
        return self._remove(change) if isinstance(change, Remove) else self._write(change)

    def _write(self, change: Write) -> Outcome:
        data = _stable_content(change.file)
        if data is None:
            return Outcome.UNSTABLE
        digest = hashlib.sha256(data).hexdigest()
        before = self._manifest.get(change.file.path)
        if before is not None and before.sha256 == digest:
            self._record(change.file, before.etag, digest)
            return Outcome.NOTHING_TO_DO
        try:
            info = self._store(change, data, before)
        except ConflictError:
            return self._adopt_or_leave(change.file, data, digest)
        self._record(change.file, info.etag, digest)
        return Outcome.DONE

    def _store(self, change: Write, data: bytes, before: Written | None) -> FileInfo:
        path = change.file.path
        kind = content_type_of(path)
        marks = WriteMarks(created=self._born(change.file, before))
        if before is None or not before.ours:
            return self._files.create(
                self._vault, path, data, content_type=kind, bulk=change.bulk, marks=marks
            )
        return self._files.replace(
            self._vault, path, data, expected=before.etag, content_type=kind, marks=marks
        )

    def _born(self, file: LocalFile, before: Written | None) -> datetime | None:
        """Return since when the document is, as the vault knows it, or as its file says at first.

        Few systems tell when a file was made; when it was last changed is the best there is.
        """
        if before is None or not before.ours:
            return datetime.fromtimestamp(file.modified / 1e9, UTC)
        try:
            return self._files.head(self._vault, file.path).created
        except NotFoundError:
            return None

    def _adopt_or_leave(self, file: LocalFile, data: bytes, digest: str) -> Outcome:
        """Take the vault's version as ours if it has the same bytes: its record was lost.

        Otherwise remember that it is not ours, so that only another change of the file asks again.
        """
        try:
            there = self._files.read(self._vault, file.path)
        except NotFoundError:
            # A person deleted it in the vault.
            self._record(file, NOT_OURS, digest)
            return Outcome.NOT_OURS
        if there.data == data:
            self._record(file, there.info.etag, digest)
            return Outcome.NOTHING_TO_DO
        self._record(file, NOT_OURS, digest)
        return Outcome.NOT_OURS

    def _remove(self, change: Remove) -> Outcome:
        before = self._manifest.get(change.path)
        if before is None or not before.ours:
            self._manifest.forget(change.path)
            return Outcome.NOTHING_TO_DO
        try:
            self._files.delete(self._vault, change.path, expected=before.etag)
        except NotFoundError:
            outcome = Outcome.NOTHING_TO_DO
        except ConflictError:
            outcome = Outcome.NOT_OURS
        else:
            outcome = Outcome.DONE
        self._manifest.forget(change.path)
        return outcome

    def _record(self, file: LocalFile, etag: ETag, digest: str) -> None:
        written = Written(etag=etag, sha256=digest, size=file.size, modified=file.modified)
        self._manifest.put(file.path, written)


def _stable_content(file: LocalFile) -> bytes | None:
    """Return the file's bytes, or None when it changed since it was seen, or is gone."""
    try:
        data = file.source.read_bytes()
        after = file.source.stat()
    except OSError:
        return None
    seen = (file.size, file.modified)
    return data if (after.st_size, after.st_mtime_ns) == seen and len(data) == file.size else None


def described(change: Change) -> VaultPath:
    """Return the path a change is about."""
    return change.path if isinstance(change, Remove) else change.file.path
