"""A versioned bucket in a dictionary: ETags, conditional writes, delete markers, pages."""

import hashlib
import itertools
from dataclasses import dataclass, replace

from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileContent, FileInfo, Listing, VaultRef
from archivolt.ports.clock import Clock
from tests.fakes.clock import FrozenClock


@dataclass(frozen=True)
class StoredVersion:
    """One version of a file; `data` is None for a delete marker."""

    info: FileInfo
    data: bytes | None
    bulk: bool = False


class InMemoryFiles:
    """A `FileStore` that behaves as a versioned bucket does."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or FrozenClock()
        self._versions: dict[tuple[VaultRef, VaultPath], list[StoredVersion]] = {}
        self._numbers = itertools.count(1)

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
        )

    def head(self, vault: VaultRef, path: VaultPath) -> FileInfo:
        return self._current(vault, path).info

    def read(
        self, vault: VaultRef, path: VaultPath, *, offset: int = 0, max_bytes: int | None = None
    ) -> FileContent:
        stored = self._current(vault, path)
        data = stored.data or b""
        end = len(data) if max_bytes is None else offset + max_bytes
        return FileContent(info=stored.info, data=data[offset:end], truncated=end < len(data))

    def create(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        content_type: str = "",
        bulk: bool = False,
    ) -> FileInfo:
        if self._find(vault, path):
            raise ConflictError("file_exists", path=path)
        return self._add(vault, path, data, content_type=content_type, bulk=bulk)

    def replace(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        expected: ETag,
        content_type: str = "",
    ) -> FileInfo:
        current = self._find(vault, path)
        if current is None or current.info.etag != expected:
            raise ConflictError("conflict")
        return self._add(vault, path, data, content_type=content_type)

    def delete(self, vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        if self._current(vault, path).info.etag != expected:
            raise ConflictError("conflict")
        marker = replace(self._current(vault, path).info, version=self._next_version())
        self._versions[vault, path].append(StoredVersion(info=marker, data=None))

    def versions(self, vault: VaultRef, path: VaultPath) -> tuple[StoredVersion, ...]:
        """Return every version, oldest first, delete markers included."""
        return tuple(self._versions.get((vault, path), []))

    def _add(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        content_type: str,
        bulk: bool = False,
    ) -> FileInfo:
        info = FileInfo(
            path=path,
            size=len(data),
            etag=ETag(hashlib.md5(data, usedforsecurity=False).hexdigest()),
            modified=self._clock.now(),
            version=self._next_version(),
            content_type=content_type,
            bulk=bulk,
        )
        stored = StoredVersion(info=info, data=data, bulk=bulk)
        self._versions.setdefault((vault, path), []).append(stored)
        return info

    def _next_version(self) -> str:
        return f"version-{next(self._numbers)}"

    def _find(self, vault: VaultRef, path: VaultPath) -> StoredVersion | None:
        versions = self._versions.get((vault, path), [])
        return versions[-1] if versions and versions[-1].data is not None else None

    def _current(self, vault: VaultRef, path: VaultPath) -> StoredVersion:
        stored = self._find(vault, path)
        if stored is None:
            raise NotFoundError("file_not_found", path=path)
        return stored

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
                entries[path] = replace(stored.info, version="", content_type="", bulk=False)
        return entries
