"""Where documents are: the truth of a vault's content (decision 16)."""

from typing import Protocol

from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileContent, FileInfo, Listing, VaultRef


class FileStore(Protocol):
    """Reads and changes the objects of one vault at a time; every change leaves a version.

    A path is already resolved by `archivolt.domain.paths`. Every method may raise
    `UnavailableError`. Every implementation passes `tests/contract`.
    """

    def list(
        self,
        vault: VaultRef,
        directory: VaultPath,
        *,
        recursive: bool,
        limit: int,
        after: str | None = None,
    ) -> Listing:
        """Return one page of at most `limit` entries below `directory`, in key order.

        An absent directory is an empty page. `recursive` lists files only. `after` is the path of
        the last entry that is not wanted again, a directory's with a final slash.
        """
        ...

    def head(self, vault: VaultRef, path: VaultPath) -> FileInfo:
        """Return what is known of a file.

        Raises:
            NotFoundError: `file_not_found`.

        """
        ...

    def read(
        self, vault: VaultRef, path: VaultPath, *, offset: int = 0, max_bytes: int | None = None
    ) -> FileContent:
        """Return the file's current bytes from `offset`, at most `max_bytes` of them.

        Raises:
            NotFoundError: `file_not_found`.

        """
        ...

    def create(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        content_type: str = "",
        bulk: bool = False,
    ) -> FileInfo:
        """Write a new file; `bulk` marks a first load, which yields to fresh changes.

        Raises:
            ConflictError: `file_exists`.

        """
        ...

    def replace(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        expected: ETag,
        content_type: str = "",
    ) -> FileInfo:
        """Write a new version over the one whose ETag is `expected`.

        Raises:
            ConflictError: `conflict`: another version is current, or the file is gone.

        """
        ...

    def delete(self, vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        """Hide the file behind a delete marker; its versions stay.

        Raises:
            ConflictError: `conflict`: another version is current.
            NotFoundError: `file_not_found`.

        """
        ...
