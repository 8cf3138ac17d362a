"""Where documents are: the truth of a vault's content (decision 16)."""

from collections.abc import Sequence
from typing import Protocol

from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import (
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

        An absent directory is an empty page that does not exist. `recursive` lists files only.
        `after` is the path of the last entry that is not wanted again, a directory's with a final
        slash.
        """
        ...

    def head(self, vault: VaultRef, path: VaultPath, *, version: str = "") -> FileInfo:
        """Return what is known of a file, or of one of its versions.

        Raises:
            NotFoundError: `file_not_found`; `version_not_found` where a version was asked for.

        """
        ...

    def read(
        self,
        vault: VaultRef,
        path: VaultPath,
        *,
        offset: int = 0,
        max_bytes: int | None = None,
        version: str = "",
    ) -> FileContent:
        """Return the bytes of a file, or of one of its versions, from `offset`, at most so many.

        Raises:
            NotFoundError: `file_not_found`; `version_not_found` where a version was asked for.

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
        marks: WriteMarks | None = None,
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
        marks: WriteMarks | None = None,
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
        """Write the source's present content, or that of one of its versions, as a new file.

        It keeps type and `created` unless `marks` say otherwise; the source stays.

        Raises:
            NotFoundError: `file_not_found`, `version_not_found`: no such source.
            ConflictError: `conflict`: the source's ETag is not `expected`; `file_exists`: the
                target exists. Nothing was written.

        """
        ...

    def versions(self, vault: VaultRef, path: VaultPath) -> Sequence[FileVersion]:
        """Return every version of a file, deletions included, the newest first; [] if none."""
        ...

    def deleted(
        self, vault: VaultRef, directory: VaultPath, *, limit: int, after: str | None = None
    ) -> DeletedFiles:
        """Return one page of the deleted files anywhere below `directory`, in key order."""
        ...

    def make_directory(self, vault: VaultRef, path: VaultPath) -> None:
        """Make an empty directory, that a listing shows; one that exists stays as it is."""
        ...

    def remove_directory(self, vault: VaultRef, path: VaultPath) -> None:
        """Remove what `make_directory` made, if anything; files below it stay."""
        ...

    def upload_form(
        self, vault: VaultRef, path: VaultPath, *, size: int, content_type: str, seconds: int
    ) -> UploadForm:
        """Return how to create one file of exactly `size` bytes without passing through us.

        The upload is refused by the store if a file of that name exists by then.
        """
        ...
