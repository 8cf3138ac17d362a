"""What a mirror wrote into its vault: the one thing it may overwrite or delete there."""

import hashlib
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag

_SCHEMA = """
CREATE TABLE IF NOT EXISTS written (
    path TEXT PRIMARY KEY, etag TEXT NOT NULL, sha256 TEXT NOT NULL,
    size INTEGER NOT NULL, modified INTEGER NOT NULL
) WITHOUT ROWID
"""


# In the place of an ETag: the vault has a version of its own at this path.
NOT_OURS = ETag("")


@dataclass(frozen=True, kw_only=True)
class Written:
    """A version this mirror wrote, and the state of the file it came from."""

    etag: ETag
    sha256: str
    size: int
    modified: int

    @property
    def ours(self) -> bool:
        """Whether what is in the vault was written by this mirror."""
        return self.etag != NOT_OURS


class Manifest:
    """The record of one vault, on disk; usable from several threads."""

    def __init__(self, database: Path) -> None:
        database.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(_SCHEMA)
        self._lock = threading.Lock()

    @classmethod
    def of_vault(cls, folder: Path, vault_id: str) -> "Manifest":
        """Open the record of a vault among those in `folder`."""
        name = hashlib.sha256(vault_id.encode()).hexdigest()[:24]
        return cls(folder / f"{name}.sqlite")

    def all(self) -> Mapping[VaultPath, Written]:
        """Return everything recorded, by path."""
        with self._lock:
            rows = self._connection.execute("SELECT * FROM written").fetchall()
        return {VaultPath(row[0]): _written(row) for row in rows}

    def get(self, path: VaultPath) -> Written | None:
        """Return what was written at a path."""
        with self._lock:
            query = self._connection.execute("SELECT * FROM written WHERE path = ?", (path,))
            row = query.fetchone()
        return _written(row) if row else None

    def put(self, path: VaultPath, written: Written) -> None:
        """Record a version."""
        values = (path, written.etag, written.sha256, written.size, written.modified)
        with self._lock:
            self._connection.execute(
                "INSERT OR REPLACE INTO written VALUES (?, ?, ?, ?, ?)", values
            )

    def forget(self, path: VaultPath) -> None:
        """Drop the record of a path."""
        with self._lock:
            self._connection.execute("DELETE FROM written WHERE path = ?", (path,))

    def close(self) -> None:
        """Close the record."""
        with self._lock:
            self._connection.close()


def _written(row: tuple[str, str, str, int, int]) -> Written:
    return Written(etag=ETag(row[1]), sha256=row[2], size=row[3], modified=row[4])
