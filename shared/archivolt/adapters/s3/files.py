"""Documents as objects of a versioned bucket: `vaults/{tenant}/{vault_id}/{path}` (decision 16).

Two writers never overwrite each other: a new object is put under `If-None-Match: *`, a new version
and a delete marker under `If-Match` with the ETag that was read. An object put there by other means
under a name that no door accepts (`archivolt.domain.paths`) is not listed.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated
from archivolt.adapters.s3.copying import SMALL_BYTES, ObjectCopier
from archivolt.adapters.s3.directories import make_directory, remove_directory
from archivolt.adapters.s3.history import deleted_files, versions_of
from archivolt.adapters.s3.objects import (
    Bucket,
    absence,
    directories_in,
    files_in,
    info_of,
    last_in,
    object_key,
    of_version,
    prefix_of,
    whole_size,
)
from archivolt.adapters.s3.uploads import upload_form
from archivolt.adapters.s3.writing import ObjectWriter, head
from archivolt.domain.errors import InvalidRequestError
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
from archivolt.ports.clock import Clock

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import ListObjectsV2OutputTypeDef

# Amazon S3 API reference, "ListObjectsV2".
MAX_KEYS: Final = 1_000
# The last of all characters in the order of keys.
_LAST: Final = chr(0x10FFFF)


class S3Files:
    """A `FileStore` in one bucket; up to `small_bytes` a file is copied through us."""

    def __init__(
        self, client: "S3Client", bucket: str, clock: Clock, *, small_bytes: int = SMALL_BYTES
    ) -> None:
        self._bucket = Bucket(client, bucket)
        self._clock = clock
        self._writer = ObjectWriter(self._bucket, clock)
        self._copier = ObjectCopier(self._bucket, clock, small_bytes=small_bytes)

    def list(
        self,
        vault: VaultRef,
        directory: VaultPath,
        *,
        recursive: bool,
        limit: int,
        after: str | None = None,
    ) -> Listing:
        """Return one page of a directory.

        Raises:
            InvalidRequestError: `unknown_page`: S3 takes no such place to start after.

        """
        root, prefix = object_key(vault, ""), prefix_of(vault, directory)
        start = _start_after(root, after, recursive=recursive)
        # Of the root, and of a page that is not the first, it is not asked.
        exists = not directory or after is not None
        files: list[FileInfo] = []
        directories: list[VaultPath] = []
        while True:
            wanted = min(limit - len(files) - len(directories), MAX_KEYS)
            page = self._page(prefix, recursive=recursive, limit=wanted, start=start)
            files += files_in(page, root)
            directories += directories_in(page, root)
            # The directory's own marker is among them.
            exists = exists or bool(page.get("Contents") or page.get("CommonPrefixes"))
            token = page.get("NextContinuationToken")
            more = token and len(files) + len(directories) >= limit
            if not token or more:
                return Listing(
                    files=files,
                    directories=directories,
                    next_after=last_in(page, root) if more else None,
                    exists=exists,
                )
            start = {"ContinuationToken": token}

    def head(self, vault: VaultRef, path: VaultPath, *, version: str = "") -> FileInfo:
        """Return what is known of a file, or of one of its versions."""
        return head(self._bucket, vault, path, version)

    def read(
        self,
        vault: VaultRef,
        path: VaultPath,
        *,
        offset: int = 0,
        max_bytes: int | None = None,
        version: str = "",
    ) -> FileContent:
        """Return bytes of a file, or of one of its versions, from `offset`."""
        if max_bytes == 0:
            return self._nothing_of(vault, path, offset, version)
        whole = offset == 0 and max_bytes is None
        last = "" if max_bytes is None else offset + max_bytes - 1
        span: dict[str, Any] = {} if whole else {"Range": f"bytes={offset}-{last}"}
        place = {"Bucket": self._bucket.name, "Key": object_key(vault, path)}
        try:
            with translated(absence(path, version)):
                answer = self._bucket.client.get_object(**place, **span, **of_version(version))
                data = answer["Body"].read()
            # A store may answer with the whole (RFC 9110, "Range"); ministack does, of a version.
            if span and "ContentRange" not in answer:
                data = data[offset:][:max_bytes]
        except ClientError as error:
            # The first byte asked for is after the last one there is.
            if code_of(error) != "InvalidRange":
                raise
            return self._nothing_of(vault, path, offset, version)
        info = info_of(path, answer, size=whole_size(answer))
        return FileContent(info=info, data=data, truncated=offset + len(data) < info.size)

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
        """Write a new file."""
        marks = marks or WriteMarks()
        return self._writer.create(
            vault, path, data, content_type=content_type, bulk=bulk, marks=marks
        )

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
        """Write a new version over the one whose ETag is `expected`."""
        marks = marks or WriteMarks()
        return self._writer.replace(
            vault, path, data, expected=expected, content_type=content_type, marks=marks
        )

    def delete(self, vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        """Hide the file behind a delete marker; its versions stay."""
        self._writer.delete(vault, path, expected=expected)

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
        """Write the source's content, or that of one of its versions, as a new file."""
        marks = marks or WriteMarks()
        return self._copier.copy(
            vault, source, target, expected=expected, version=version, marks=marks
        )

    def versions(self, vault: VaultRef, path: VaultPath) -> Sequence[FileVersion]:
        """Return every version of a file, deletions included, the newest first."""
        return versions_of(self._bucket, vault, path)

    def deleted(
        self, vault: VaultRef, directory: VaultPath, *, limit: int, after: str | None = None
    ) -> DeletedFiles:
        """Return one page of the deleted files anywhere below `directory`."""
        return deleted_files(self._bucket, vault, directory, limit=limit, after=after)

    def make_directory(self, vault: VaultRef, path: VaultPath) -> None:
        """Make an empty directory; one that exists stays as it is."""
        make_directory(self._bucket, vault, path)

    def remove_directory(self, vault: VaultRef, path: VaultPath) -> None:
        """Remove what `make_directory` made, if anything."""
        remove_directory(self._bucket, vault, path)

    def upload_form(
        self, vault: VaultRef, path: VaultPath, *, size: int, content_type: str, seconds: int
    ) -> UploadForm:
        """Return how to create one file of exactly `size` bytes without passing through us."""
        return upload_form(
            self._bucket,
            self._clock,
            vault,
            path,
            size=size,
            content_type=content_type,
            seconds=seconds,
        )

    def _nothing_of(
        self, vault: VaultRef, path: VaultPath, offset: int, version: str
    ) -> FileContent:
        info = self.head(vault, path, version=version)
        return FileContent(info=info, data=b"", truncated=offset < info.size)

    def _page(
        self, prefix: str, *, recursive: bool, limit: int, start: Mapping[str, Any]
    ) -> "ListObjectsV2OutputTypeDef":
        delimiter: dict[str, Any] = {} if recursive else {"Delimiter": "/"}
        with translated({"InvalidArgument": InvalidRequestError("unknown_page")}):
            return self._bucket.client.list_objects_v2(
                Bucket=self._bucket.name, Prefix=prefix, MaxKeys=limit, **delimiter, **start
            )


def _start_after(root: str, after: str | None, *, recursive: bool) -> dict[str, Any]:
    """Return where a listing starts; a listed directory is passed when everything in it is."""
    if not after:
        return {}
    passed = "" if recursive or not after.endswith("/") else _LAST
    return {"StartAfter": f"{root}{after}{passed}"}
