"""Shards as files in a temporary folder, so that only those that changed are fetched again.

Several processes may share the folder: a file is complete from the moment it has its name, and one
that another process removed is fetched again. The folder holds derived data only.
"""

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from archivolt.adapters.sqlite.shard_connection import ShardConnection
from archivolt.domain.errors import UnavailableError
from archivolt.domain.vault import ETag, VaultRef
from archivolt.ports.retrieval import ShardStore

_OPENINGS: Final = 3
# Pages are read where the system has them, not copied: whole texts are scanned.
_MAPPED: Final = "PRAGMA mmap_size = 1073741824"


class ShardCache:
    """Opens the shards of a store, each as of an ETag.

    Args:
        store: Where the shards are.
        folder: Where their copies are kept; made when needed, readable by the owner alone.
        max_bytes: How much may be kept after `trim`.
        write: Writes a copy into its file; raises OSError where there is no room.

    """

    def __init__(
        self,
        store: ShardStore,
        folder: Path,
        *,
        max_bytes: int,
        write: Callable[[Path, bytes], object] = Path.write_bytes,
    ) -> None:
        self._store = store
        self._folder = folder
        self._max_bytes = max_bytes
        self._write = write
        self._grown = True  # another process may have left more than is allowed here

    def holds(self, vault: VaultRef, name: str, etag: ETag) -> bool:
        """Tell whether there is a copy of a shard as of `etag`, which counts as using it."""
        try:
            os.utime(self._file(vault, name, etag))
        except OSError:
            return False
        return True

    def fetch(self, vault: VaultRef, name: str, etag: ETag) -> ETag | None:
        """Make sure of a copy as of `etag`, or newer; return which. None: the shard is gone.

        Raises:
            UnavailableError: `unavailable`: the store is, or the folder cannot be written.

        """
        if self.holds(vault, name, etag):
            return etag
        shard = self._store.get(vault, name)
        if shard is None:
            return None
        self._keep(self._file(vault, name, shard.etag), shard.data)
        return shard.etag

    def open(self, vault: VaultRef, name: str, etag: ETag) -> sqlite3.Connection | None:
        """Return a shard for reading: as of `etag`, or newer. None: it is gone.

        Raises:
            UnavailableError: As `fetch`; or other processes remove each copy as soon as it is made.

        """
        for _ in range(_OPENINGS):
            present = self.fetch(vault, name, etag)
            if present is None:
                return None
            file = self._file(vault, name, present)
            with suppress(sqlite3.OperationalError):
                return _read_only(file)
        raise UnavailableError("unavailable")

    def trim(self) -> bool:
        """Remove the copies used least recently until the rest is within the bound.

        Returns whether any was removed: their space is free once nobody has them open. Looks at
        nothing unless a copy came in since the last time.
        """
        if not self._grown:
            return False
        self._grown = False
        kept = 0
        removed = False
        for _, size, file in sorted(self._copies(), reverse=True):
            kept += size
            if kept > self._max_bytes:
                file.unlink(missing_ok=True)
                removed = True
        return removed

    def forget(self, vault: VaultRef) -> None:
        """Remove the copies of a vault's shards."""
        for file in self._folder_of(vault).glob("*"):
            file.unlink(missing_ok=True)

    def _file(self, vault: VaultRef, name: str, etag: ETag) -> Path:
        return self._folder_of(vault) / f"{name}.{_digest(etag)}.sqlite"

    def _folder_of(self, vault: VaultRef) -> Path:
        return self._folder / _digest(f"{vault.tenant}/{vault.id}")

    def _keep(self, file: Path, data: bytes) -> None:
        """Give a copy its name once it is complete, and remove those it replaces."""
        # What could not be kept may want room, too.
        self._grown = True
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as named:
                growing = Path(named.name)
            try:
                self._write(growing, data)
                growing.replace(file)
            except OSError:
                growing.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise UnavailableError("unavailable") from error
        name, _, _ = file.name.partition(".")
        for older in file.parent.glob(f"{name}.*"):
            if older != file:
                older.unlink(missing_ok=True)

    def _copies(self) -> list[tuple[float, int, Path]]:
        copies: list[tuple[float, int, Path]] = []
        for file in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):
                status = file.stat()
                copies.append((status.st_mtime, status.st_size, file))
        return copies


def _read_only(file: Path) -> sqlite3.Connection:
    # Immutable: no locks are taken, since a file never changes under its name.
    address = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(
        address, uri=True, check_same_thread=False, factory=ShardConnection
    )
    connection.execute(_MAPPED)
    return connection


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
