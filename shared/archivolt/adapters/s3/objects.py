"""Between objects of the bucket and files of a vault: keys, and what S3's answers say of them."""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from archivolt.domain.errors import ArchivoltError, InvalidRequestError, NotFoundError
from archivolt.domain.paths import ROOT, VaultPath, resolve_path
from archivolt.domain.vault import ETag, FileInfo, VaultRef, WriteMarks

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import GetObjectOutputTypeDef, ListObjectsV2OutputTypeDef

PRIORITY_METADATA: Final = "archivolt-priority"
BULK: Final = "bulk"
"""The mark of a first load, as metadata of an object."""
CREATED_METADATA: Final = "archivolt-created"
OPERATION_METADATA: Final = "archivolt-operation"
MOVED_FROM_METADATA: Final = "archivolt-moved-from"

CONDITION_FAILED: Final = frozenset({"PreconditionFailed", "NoSuchKey", "404"})
"""What S3 answers to a write whose condition does not hold, or which finds nothing to hold on."""


class Bucket(NamedTuple):
    """A bucket and a client that reaches it."""

    client: "S3Client"
    name: str


def object_key(vault: VaultRef, path: str) -> str:
    """Return the key of a file, or with "" what all keys of the vault begin with."""
    return f"vaults/{vault.tenant}/{vault.id}/{path}"


def prefix_of(vault: VaultRef, directory: VaultPath) -> str:
    """Return what the keys of everything below a directory begin with."""
    return object_key(vault, f"{directory}/" if directory else "")


def metadata_of(marks: WriteMarks, *, bulk: bool = False) -> dict[str, str]:
    """Return marks as metadata, which takes ASCII alone: moments and ids have nothing else.

    Paths are in Base64: percent signs would make three bytes of one, and 2 KB is all there is.
    """
    metadata = {PRIORITY_METADATA: BULK} if bulk else {}
    if marks.created is not None:
        metadata[CREATED_METADATA] = marks.created.astimezone(UTC).isoformat()
    if marks.operation:
        metadata[OPERATION_METADATA] = marks.operation
    if marks.moved_from:
        metadata[MOVED_FROM_METADATA] = base64.urlsafe_b64encode(marks.moved_from.encode()).decode()
    return metadata


def info_of(path: VaultPath, answer: Mapping[str, Any], *, size: int) -> FileInfo:
    """Return what an answer about one object says of the file."""
    metadata: Mapping[str, str] = answer.get("Metadata", {})
    return FileInfo(
        path=path,
        size=size,
        etag=etag_of(answer["ETag"]),
        modified=answer["LastModified"],
        version=answer.get("VersionId", ""),
        content_type=answer.get("ContentType", ""),
        bulk=metadata.get(PRIORITY_METADATA) == BULK,
        created=_moment(metadata.get(CREATED_METADATA, "")) or answer["LastModified"],
        operation=metadata.get(OPERATION_METADATA, ""),
        moved_from=_path(metadata.get(MOVED_FROM_METADATA, "")),
    )


def whole_size(answer: "GetObjectOutputTypeDef") -> int:
    """Return the size of the object of which a part was read."""
    of_part = answer.get("ContentRange", "").rpartition("/")[2]
    return int(of_part) if of_part.isdecimal() else answer["ContentLength"]


def files_in(page: "ListObjectsV2OutputTypeDef", root: str) -> Iterator[FileInfo]:
    """Yield the files of a page of a listing; `root` is what comes before a file's path."""
    for entry in page.get("Contents", []):
        path = listable(entry.get("Key", "").removeprefix(root))
        if path is not None:
            yield FileInfo(
                path=path,
                size=entry.get("Size", 0),
                etag=etag_of(entry.get("ETag", "")),
                modified=entry.get("LastModified", datetime.min.replace(tzinfo=UTC)),
            )


def directories_in(page: "ListObjectsV2OutputTypeDef", root: str) -> Iterator[VaultPath]:
    """Yield the direct sub-directories of a page of a listing."""
    for entry in page.get("CommonPrefixes", []):
        path = listable(entry.get("Prefix", "").removeprefix(root).removesuffix("/"))
        if path is not None:
            yield path


def last_in(page: "ListObjectsV2OutputTypeDef", root: str) -> str:
    """Return the last entry of a page in key order, listable or not; a directory ends in `/`."""
    keys = [entry.get("Key", "") for entry in page.get("Contents", [])]
    prefixes = [entry.get("Prefix", "") for entry in page.get("CommonPrefixes", [])]
    return max([*keys, *prefixes]).removeprefix(root)


def etag_of(quoted: str) -> ETag:
    """Return an ETag as S3 writes it without its quotes."""
    return ETag(quoted.strip('"'))


def etag_for(data: bytes) -> ETag:
    """Return the ETag that content put in one piece has (unless a KMS key encrypts it)."""
    return ETag(hashlib.md5(data, usedforsecurity=False).hexdigest())


def of_version(version: str) -> dict[str, Any]:
    """Return the argument that asks for one version; for "" none, which asks for the current."""
    return {"VersionId": version} if version else {}


def absence(path: VaultPath, version: str = "") -> dict[str, ArchivoltError]:
    """Return what S3's answers mean when a file is asked for that is not there.

    A version that is a deletion cannot be asked for (405), nor one whose id S3 never gave (400).
    """
    if not version:
        return dict.fromkeys(("NoSuchKey", "404"), NotFoundError("file_not_found", path=path))
    answers = ("NoSuchKey", "NoSuchVersion", "MethodNotAllowed", "InvalidArgument", *_OF_HEAD)
    return dict.fromkeys(answers, NotFoundError("version_not_found", path=path, version=version))


# The answer to HEAD has no body, and so no code but its status.
_OF_HEAD: Final = ("400", "404", "405")


def listable(name: str) -> VaultPath | None:
    """Return a name of the bucket as a path, None if no door accepts it (`domain.paths`)."""
    try:
        path = resolve_path(name)
    except InvalidRequestError:
        return None
    return path if path == name else None


def _path(encoded: str) -> VaultPath:
    """Return a path out of metadata; the root for none, or one that no door accepts."""
    try:
        return listable(base64.urlsafe_b64decode(encoded).decode()) or ROOT if encoded else ROOT
    except (binascii.Error, UnicodeDecodeError):
        return ROOT


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
