"""A versioned bucket in a dictionary: ETags, conditional writes, delete markers, pages."""

import hashlib
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import (
    DeletedFile,
    DeletedFiles,
    ETag,
    FileContent,
    FileInfo,
    FileVersion,
    Listing,
    UploadForm,
    VaultRef,
    WriteMarks,
)
from archivolt.ports.clock import Clock
from tests.fakes.clock import FrozenClock

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class StoredVersion:
    """One version of a file; `data` is None for a delete marker."""

    info: FileInfo
    data: bytes | None

    @property
    def bulk(self) -> bool:
        """Whether it was written as part of a first load."""
        return self.info.bulk


def _alone(
    method: Callable[Concatenate["InMemoryFiles", P], R],
) -> Callable[Concatenate["InMemoryFiles", P], R]:
    """Let one thread at a time through."""

    @wraps(method)
    def call(files: "InMemoryFiles", /, *args: P.args, **kwargs: P.kwargs) -> R:
        with files.lock:
            return method(files, *args, **kwargs)

    return call


class InMemoryFiles:
    """A `FileStore` that behaves as a versioned bucket does."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.lock = threading.RLock()
        self._clock = clock or FrozenClock()
        self._versions: dict[tuple[VaultRef, VaultPath], list[StoredVersion]] = {}
        self._directories: set[tuple[VaultRef, VaultPath]] = set()
        self._numbers = itertools.count(1)
        self.history: list[tuple[VaultRef, StoredVersion]] = []
        """Every version of any file, in the order in which they came to be."""

    @_alone
    def list(
        self,
        vault: VaultRef,
        directory: VaultPath,
        *,
        recursive: bool,
        limit: int,
        after: str | None = None,
    ) -> Listing:
        prefix = f"{directory}/" if directory else ""
        entries = self._entries(vault, prefix, recursive=recursive)
        rest = [name for name in sorted(entries) if after is None or name > after]
        page = rest[:limit]
        return Listing(
            files=[info for name in page if (info := entries[name]) is not None],
            directories=[VaultPath(name[:-1]) for name in page if entries[name] is None],
            next_after=page[-1] if len(rest) > limit else None,
            exists=bool(entries) or not directory or self._has_directory(vault, prefix),
        )

    @_alone
    def head(self, vault: VaultRef, path: VaultPath, *, version: str = "") -> FileInfo:
        return self._at(vault, path, version).info

    @_alone
    def read(
        self,
        vault: VaultRef,
        path: VaultPath,
        *,
        offset: int = 0,
        max_bytes: int | None = None,
        version: str = "",
    ) -> FileContent:
        stored = self._at(vault, path, version)
        data = stored.data or b""
        end = len(data) if max_bytes is None else offset + max_bytes
        return FileContent(info=stored.info, data=data[offset:end], truncated=end < len(data))

    @_alone
    def create(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        content_type: str = "",
        bulk: bool = False,
        marks: WriteMarks | None = None,
    ) -> FileInfo:
        if self._find(vault, path):
            raise ConflictError("file_exists", path=path)
        return self._add(vault, path, data, content_type=content_type, bulk=bulk, marks=marks)

    @_alone
    def replace(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        expected: ETag,
        content_type: str = "",
        marks: WriteMarks | None = None,
    ) -> FileInfo:
        current = self._find(vault, path)
        if current is None or current.info.etag != expected:
            raise ConflictError("conflict")
        return self._add(vault, path, data, content_type=content_type, marks=marks)

    @_alone
    def delete(self, vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        current = self._at(vault, path, "")
        if current.info.etag != expected:
            raise ConflictError("conflict")
        marker = replace(current.info, version=self._next_version(), modified=self._clock.now())
        self._keep(vault, StoredVersion(info=marker, data=None))

    @_alone
    def copy(
        self,
        vault: VaultRef,
        source: VaultPath,
        target: VaultPath,
        *,
        expected: ETag,
        version: str = "",
        marks: WriteMarks | None = None,
    ) -> FileInfo:
        stored = self._at(vault, source, version)
        if stored.info.etag != expected:
            raise ConflictError("conflict")
        marks = marks or WriteMarks()
        return self.create(
            vault,
            target,
            stored.data or b"",
            content_type=stored.info.content_type,
            marks=replace(marks, created=marks.created or stored.info.created),
        )

    @_alone
    def versions(self, vault: VaultRef, path: VaultPath) -> Sequence[FileVersion]:
        newest_first = self.stored(vault, path)[::-1]
        return [
            FileVersion(
                version=stored.info.version,
                modified=stored.info.modified,
                size=0 if stored.data is None else stored.info.size,
                etag=ETag("") if stored.data is None else stored.info.etag,
                current=number == 0,
                deletion=stored.data is None,
            )
            for number, stored in enumerate(newest_first)
        ]

    @_alone
    def deleted(
        self, vault: VaultRef, directory: VaultPath, *, limit: int, after: str | None = None
    ) -> DeletedFiles:
        prefix = f"{directory}/" if directory else ""
        rest = [
            self._last_content(vault, path)
            for owner, path in sorted(self._versions, key=lambda key: key[1])
            if owner == vault and path.startswith(prefix) and not self._find(vault, path)
            if after is None or path > after
        ]
        page = rest[:limit]
        more = len(rest) > limit
        return DeletedFiles(files=page, next_after=page[-1].path if more else None)

    @_alone
    def make_directory(self, vault: VaultRef, path: VaultPath) -> None:
        self._directories.add((vault, path))

    @_alone
    def remove_directory(self, vault: VaultRef, path: VaultPath) -> None:
        self._directories.discard((vault, path))

    @_alone
    def upload_form(
        self, vault: VaultRef, path: VaultPath, *, size: int, content_type: str, seconds: int
    ) -> UploadForm:
        return UploadForm(
            url=f"https://uploads.example/{vault.id}/{path}",
            method="PUT",
            headers={
                "Content-Length": str(size),
                "Content-Type": content_type,
                "If-None-Match": "*",
            },
            expires_at=self._clock.now() + timedelta(seconds=seconds),
        )

    @_alone
    def stored(self, vault: VaultRef, path: VaultPath) -> tuple[StoredVersion, ...]:
        """Return every version with its content, oldest first, delete markers included."""
        return tuple(self._versions.get((vault, path), []))

    @_alone
    def remove_marker(self, vault: VaultRef, path: VaultPath) -> bool:
        """Delete a file's newest version if it is a delete marker; tell whether it was."""
        versions = self._versions.get((vault, path), [])
        if not versions or versions[-1].data is not None:
            return False
        versions.pop()
        return self._find(vault, path) is not None

    def _add(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        content_type: str,
        bulk: bool = False,
        marks: WriteMarks | None = None,
    ) -> FileInfo:
        marks = marks or WriteMarks()
        info = FileInfo(
            path=path,
            size=len(data),
            etag=ETag(hashlib.md5(data, usedforsecurity=False).hexdigest()),
            modified=self._clock.now(),
            version=self._next_version(),
            content_type=content_type,
            bulk=bulk,
            created=marks.created or self._clock.now(),
            operation=marks.operation,
            moved_from=marks.moved_from,
        )
        self._keep(vault, StoredVersion(info=info, data=data))
        return info

    def _keep(self, vault: VaultRef, stored: StoredVersion) -> None:
        self._versions.setdefault((vault, stored.info.path), []).append(stored)
        self.history.append((vault, stored))

    def _next_version(self) -> str:
        return f"version-{next(self._numbers)}"

    def _find(self, vault: VaultRef, path: VaultPath) -> StoredVersion | None:
        versions = self._versions.get((vault, path), [])
        return versions[-1] if versions and versions[-1].data is not None else None

    def _at(self, vault: VaultRef, path: VaultPath, version: str) -> StoredVersion:
        """Return a version with content, the current one for ""."""
        if not version:
            current = self._find(vault, path)
            if current is None:
                raise NotFoundError("file_not_found", path=path)
            return current
        for stored in self.stored(vault, path):
            if stored.info.version == version and stored.data is not None:
                return stored
        raise NotFoundError("version_not_found", path=path, version=version)

    def _last_content(self, vault: VaultRef, path: VaultPath) -> DeletedFile:
        versions = self.stored(vault, path)
        content = next(stored for stored in versions[::-1] if stored.data is not None)
        return DeletedFile(
            path=path,
            deleted_at=versions[-1].info.modified,
            version=content.info.version,
            size=content.info.size,
            etag=content.info.etag,
        )

    def _has_directory(self, vault: VaultRef, prefix: str) -> bool:
        return any(
            owner == vault and f"{path}/".startswith(prefix) for owner, path in self._directories
        )

    def _entries(
        self, vault: VaultRef, prefix: str, *, recursive: bool
    ) -> dict[str, FileInfo | None]:
        """Return files by path, and directories (with a final slash) as None."""
        entries: dict[str, FileInfo | None] = {}
        for owner, path in self._versions:
            stored = self._find(owner, path)
            if owner != vault or stored is None or not path.startswith(prefix):
                continue
            name, slash, _ = path.removeprefix(prefix).partition("/")
            if slash and not recursive:
                entries[f"{prefix}{name}/"] = None
            else:
                entries[path] = _as_listed(stored.info)
        if not recursive:
            entries |= self._empty_directories(vault, prefix)
        return entries

    def _empty_directories(self, vault: VaultRef, prefix: str) -> dict[str, None]:
        below = (
            f"{path}/".removeprefix(prefix)
            for owner, path in self._directories
            if owner == vault and f"{path}/".startswith(prefix)
        )
        return {f"{prefix}{rest.partition('/')[0]}/": None for rest in below if rest}


def _as_listed(info: FileInfo) -> FileInfo:
    return replace(info, version="", content_type="", bulk=False, created=None, operation="")
