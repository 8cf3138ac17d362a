"""Copies of objects that overwrite nothing.

A small object is read and put under `If-None-Match: *`. A large one S3 copies by itself, under the
same condition; as not every store of this protocol knows a condition on a copy, it is looked first
whether the target exists. Where the condition is not known and two copies meet in that moment, the
bucket keeps both as versions.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated, was_retried
from archivolt.adapters.s3.objects import (
    CONDITION_FAILED,
    Bucket,
    absence,
    etag_of,
    info_of,
    metadata_of,
    object_key,
    of_version,
)
from archivolt.adapters.s3.writing import ObjectWriter, head
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultRef, WriteMarks
from archivolt.ports.clock import Clock

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import CopyObjectOutputTypeDef, CopySourceTypeDef

SMALL_BYTES: Final = 5_000_000
"""Up to this size an object is copied through us."""


class ObjectCopier:
    """Copies objects of one bucket; `small_bytes` is `SMALL_BYTES` unless a test says otherwise."""

    def __init__(self, bucket: Bucket, clock: Clock, *, small_bytes: int = SMALL_BYTES) -> None:
        self._bucket = bucket
        self._clock = clock
        self._small_bytes = small_bytes
        self._writer = ObjectWriter(bucket, clock)

    def copy(
        self,
        vault: VaultRef,
        source: VaultPath,
        target: VaultPath,
        *,
        expected: ETag,
        version: str,
        marks: WriteMarks,
    ) -> FileInfo:
        """Write the source, or one of its versions, as a new file.

        Raises:
            NotFoundError: `file_not_found`, `version_not_found`.
            ConflictError: `conflict` for the source, `file_exists` for the target.

        """
        known = absence(source, version) | {"PreconditionFailed": ConflictError("conflict")}
        with translated(known):
            answer = self._bucket.client.get_object(
                Bucket=self._bucket.name,
                Key=object_key(vault, source),
                IfMatch=f'"{expected}"',
                **of_version(version),
            )
            small = answer["ContentLength"] <= self._small_bytes
            data = answer["Body"].read() if small else b""
            answer["Body"].close()
        info = info_of(source, answer, size=answer["ContentLength"])
        marks = replace(marks, created=marks.created or info.created)
        if small:
            return self._writer.create(
                vault, target, data, content_type=info.content_type, marks=marks
            )
        return self._copy_in_the_store(vault, info, target, marks)

    def _copy_in_the_store(
        self, vault: VaultRef, source: FileInfo, target: VaultPath, marks: WriteMarks
    ) -> FileInfo:
        exists = ConflictError("file_exists", path=target)
        if self._find(vault, target):
            raise exists
        try:
            with translated(absence(source.path, source.version)):
                answer = self._copy_object(vault, source, target, marks)
        except ClientError as error:
            if code_of(error) not in CONDITION_FAILED | {"ConditionalRequestConflict"}:
                raise
            there = self._find(vault, target) if was_retried(error) else None
            # An earlier attempt, whose answer was lost, has done it.
            if there and (there.size, there.operation) == (source.size, marks.operation):
                return there
            raise exists from error
        return replace(
            source,
            path=target,
            etag=etag_of(answer["CopyObjectResult"].get("ETag", "")),
            modified=self._clock.now(),
            version=answer.get("VersionId", ""),
            bulk=False,
            created=marks.created,
            operation=marks.operation,
            moved_from=marks.moved_from,
        )

    def _copy_object(
        self, vault: VaultRef, source: FileInfo, target: VaultPath, marks: WriteMarks
    ) -> "CopyObjectOutputTypeDef":
        place: CopySourceTypeDef = {
            "Bucket": self._bucket.name,
            "Key": object_key(vault, source.path),
        }
        if source.version:
            place["VersionId"] = source.version
        return self._bucket.client.copy_object(
            Bucket=self._bucket.name,
            Key=object_key(vault, target),
            CopySource=place,
            IfNoneMatch="*",
            MetadataDirective="REPLACE",
            Metadata=metadata_of(marks),
            ContentType=source.content_type,
        )

    def _find(self, vault: VaultRef, path: VaultPath) -> FileInfo | None:
        try:
            return head(self._bucket, vault, path)
        except NotFoundError:
            return None
