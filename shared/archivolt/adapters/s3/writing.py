"""Writes to objects that hold only as long as nobody else was faster."""

from collections.abc import Mapping
from typing import Any, Final

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated, was_retried
from archivolt.adapters.s3.objects import (
    CONDITION_FAILED,
    Bucket,
    absence,
    etag_for,
    etag_of,
    info_of,
    metadata_of,
    object_key,
    of_version,
)
from archivolt.domain.errors import ArchivoltError, ConflictError, NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultRef, WriteMarks
from archivolt.ports.clock import Clock

# How often a write that met another one in flight is repeated, as S3 asks for.
_WRITES: Final = 4


def head(bucket: Bucket, vault: VaultRef, path: VaultPath, version: str = "") -> FileInfo:
    """Return what is known of a file, or of one of its versions.

    Raises:
        NotFoundError: `file_not_found`, `version_not_found`.

    """
    with translated(absence(path, version)):
        answer = bucket.client.head_object(
            Bucket=bucket.name, Key=object_key(vault, path), **of_version(version)
        )
    return info_of(path, answer, size=answer["ContentLength"])


class ObjectWriter:
    """Creates, replaces and deletes the objects of one bucket, each under its condition."""

    def __init__(self, bucket: Bucket, clock: Clock) -> None:
        self._bucket = bucket
        self._clock = clock

    def create(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        content_type: str,
        marks: WriteMarks,
        bulk: bool = False,
    ) -> FileInfo:
        """Write a new file.

        Raises:
            ConflictError: `file_exists`.

        """
        return self._put(
            vault,
            path,
            data,
            marks=marks,
            refusal=ConflictError("file_exists", path=path),
            options={"IfNoneMatch": "*", "Metadata": metadata_of(marks, bulk=bulk)},
            content_type=content_type,
        )

    def replace(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        expected: ETag,
        content_type: str,
        marks: WriteMarks,
    ) -> FileInfo:
        """Write a new version over the one whose ETag is `expected`.

        Raises:
            ConflictError: `conflict`.

        """
        return self._put(
            vault,
            path,
            data,
            marks=marks,
            refusal=ConflictError("conflict"),
            options={"IfMatch": f'"{expected}"', "Metadata": metadata_of(marks)},
            content_type=content_type,
        )

    def delete(self, vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        """Hide the file behind a delete marker.

        Raises:
            ConflictError: `conflict`.
            NotFoundError: `file_not_found`.

        """
        key = object_key(vault, path)
        try:
            with translated():
                self._bucket.client.delete_object(
                    Bucket=self._bucket.name, Key=key, IfMatch=f'"{expected}"'
                )
        except ClientError as error:
            if code_of(error) not in CONDITION_FAILED | {"ConditionalRequestConflict"}:
                raise
            try:
                head(self._bucket, vault, path)
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
        marks: WriteMarks,
        refusal: ArchivoltError,
        options: Mapping[str, Any],
        content_type: str,
    ) -> FileInfo:
        described: dict[str, Any] = {"ContentType": content_type} if content_type else {}
        key = object_key(vault, path)
        for _ in range(_WRITES):
            try:
                with translated():
                    answer = self._bucket.client.put_object(
                        Bucket=self._bucket.name, Key=key, Body=data, **options, **described
                    )
            except ClientError as error:
                if code_of(error) == "ConditionalRequestConflict":
                    continue
                if code_of(error) not in CONDITION_FAILED:
                    raise
                if written := self._written_before(vault, path, data, marks, error):
                    return written
                raise refusal from error
            now = self._clock.now()
            return FileInfo(
                path=path,
                size=len(data),
                etag=etag_of(answer["ETag"]),
                modified=now,
                version=answer.get("VersionId", ""),
                content_type=content_type,
                created=marks.created or now,
                operation=marks.operation,
                moved_from=marks.moved_from,
            )
        raise refusal

    def _written_before(
        self, vault: VaultRef, path: VaultPath, data: bytes, marks: WriteMarks, error: ClientError
    ) -> FileInfo | None:
        """Return the file if it is what an earlier attempt, whose answer was lost, wrote."""
        if not was_retried(error):
            return None
        try:
            there = head(self._bucket, vault, path)
        except NotFoundError:
            return None
        mine = (there.etag, there.operation) == (etag_for(data), marks.operation)
        return there if mine else None
