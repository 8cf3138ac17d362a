"""Documents as objects of a versioned bucket: `vaults/{tenant}/{vault_id}/{path}` (decision 16).

Two writers never overwrite each other: a new object is put under `If-None-Match: *`, a new version
and a delete marker under `If-Match` with the ETag that was read. An object put there by other means
under a name that no door accepts (`archivolt.domain.paths`) is not listed.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated, was_retried
from archivolt.adapters.s3.objects import (
    BULK,
    PRIORITY_METADATA,
    directories_in,
    etag_for,
    etag_of,
    files_in,
    info_of,
    last_in,
    object_key,
    whole_size,
)
from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileContent, FileInfo, Listing, VaultRef
from archivolt.ports.clock import Clock

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import ListObjectsV2OutputTypeDef

# Amazon S3 API reference, "ListObjectsV2".
_MAX_KEYS: Final = 1_000
# The last of all characters in the order of keys.
_LAST: Final = chr(0x10FFFF)
# How often a write that met another one in flight is repeated, as S3 asks for.
_WRITES: Final = 4

_CONDITION_FAILED: Final = frozenset({"PreconditionFailed", "NoSuchKey", "404"})


class S3Files:
    """A `FileStore` in one bucket."""

    def __init__(self, client: "S3Client", bucket: str, clock: Clock) -> None:
        self._client = client
        self._bucket = bucket
        self._clock = clock

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
        root = object_key(vault, "")
        prefix = f"{root}{directory}/" if directory else root
        start = _start_after(root, after)
        files: list[FileInfo] = []
        directories: list[VaultPath] = []
        while True:
            wanted = min(limit - len(files) - len(directories), _MAX_KEYS)
            page = self._page(prefix, recursive=recursive, limit=wanted, start=start)
            files += files_in(page, root)
            directories += directories_in(page, root)
            token = page.get("NextContinuationToken")
            if not token:
                return Listing(files=files, directories=directories)
            if len(files) + len(directories) >= limit:
                return Listing(files=files, directories=directories, next_after=last_in(page, root))
            start = {"ContinuationToken": token}

    def head(self, vault: VaultRef, path: VaultPath) -> FileInfo:
        """Return what is known of a file."""
        with translated(_absent(path)):
            answer = self._client.head_object(Bucket=self._bucket, Key=object_key(vault, path))
        return info_of(path, answer, size=answer["ContentLength"])

    def read(
        self, vault: VaultRef, path: VaultPath, *, offset: int = 0, max_bytes: int | None = None
    ) -> FileContent:
        """Return the file's current bytes from `offset`, at most `max_bytes` of them."""
        if max_bytes == 0:
            return self._nothing_of(vault, path, offset)
        whole = offset == 0 and max_bytes is None
        last = "" if max_bytes is None else offset + max_bytes - 1
        span: dict[str, Any] = {} if whole else {"Range": f"bytes={offset}-{last}"}
        try:
            with translated(_absent(path)):
                answer = self._client.get_object(
                    Bucket=self._bucket, Key=object_key(vault, path), **span
                )
                data = answer["Body"].read()
        except ClientError as error:
            # The first byte asked for is after the last one there is.
            if code_of(error) != "InvalidRange":
                raise
            return self._nothing_of(vault, path, offset)
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
    ) -> FileInfo:
        """Write a new file."""
        metadata = {PRIORITY_METADATA: BULK} if bulk else {}
        return self._put(
            vault,
            path,
            data,
            content_type=content_type,
            refusal=ConflictError("file_exists", path=path),
            options={"IfNoneMatch": "*", "Metadata": metadata},
        )

    def replace(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        expected: ETag,
        content_type: str = "",
    ) -> FileInfo:
        """Write a new version over the one whose ETag is `expected`."""
        return self._put(
            vault,
            path,
            data,
            content_type=content_type,
            refusal=ConflictError("conflict"),
            options={"IfMatch": f'"{expected}"'},
        )

    def delete(self, vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        """Hide the file behind a delete marker; its versions stay."""
        try:
            with translated():
                self._client.delete_object(
                    Bucket=self._bucket, Key=object_key(vault, path), IfMatch=f'"{expected}"'
                )
        except ClientError as error:
            if code_of(error) not in _CONDITION_FAILED | {"ConditionalRequestConflict"}:
                raise
            try:
                self.head(vault, path)
            except NotFoundError:
                # An earlier attempt, whose answer was lost, has done it.
                if was_retried(error):
                    return
                raise
            raise ConflictError("conflict") from error

    def _put(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        content_type: str,
        refusal: ArchivoltError,
        options: Mapping[str, Any],
    ) -> FileInfo:
        described: dict[str, Any] = {"ContentType": content_type} if content_type else {}
        for _ in range(_WRITES):
            try:
                with translated():
                    answer = self._client.put_object(
                        Bucket=self._bucket,
                        Key=object_key(vault, path),
                        Body=data,
                        **options,
                        **described,
                    )
            except ClientError as error:
                if code_of(error) == "ConditionalRequestConflict":
                    continue
                if code_of(error) not in _CONDITION_FAILED:
                    raise
                if was_retried(error) and self._holds(vault, path, data):
                    return self.head(vault, path)
                raise refusal from error
            return FileInfo(
                path=path,
                size=len(data),
                etag=etag_of(answer["ETag"]),
                modified=self._clock.now(),
                version=answer.get("VersionId", ""),
                content_type=content_type,
            )
        raise refusal

    def _holds(self, vault: VaultRef, path: VaultPath, data: bytes) -> bool:
        """Tell whether the file is what an earlier attempt, whose answer was lost, wrote."""
        try:
            return self.head(vault, path).etag == etag_for(data)
        except NotFoundError:
            return False

    def _nothing_of(self, vault: VaultRef, path: VaultPath, offset: int) -> FileContent:
        info = self.head(vault, path)
        return FileContent(info=info, data=b"", truncated=offset < info.size)

    def _page(
        self, prefix: str, *, recursive: bool, limit: int, start: Mapping[str, Any]
    ) -> "ListObjectsV2OutputTypeDef":
        delimiter: dict[str, Any] = {} if recursive else {"Delimiter": "/"}
        with translated({"InvalidArgument": InvalidRequestError("unknown_page")}):
            return self._client.list_objects_v2(
                Bucket=self._bucket, Prefix=prefix, MaxKeys=limit, **delimiter, **start
            )


def _start_after(root: str, after: str | None) -> dict[str, Any]:
    """Return where a listing starts; a directory is passed when everything in it is."""
    if not after:
        return {}
    return {"StartAfter": f"{root}{after}{_LAST if after.endswith('/') else ''}"}


def _absent(path: VaultPath) -> dict[str, ArchivoltError]:
    absent = NotFoundError("file_not_found", path=path)
    return {"NoSuchKey": absent, "404": absent}
