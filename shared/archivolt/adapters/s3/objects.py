"""Between objects of the bucket and files of a vault: keys, and what S3's answers say of them."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.paths import VaultPath, resolve_path
from archivolt.domain.vault import ETag, FileInfo, VaultRef

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import GetObjectOutputTypeDef, ListObjectsV2OutputTypeDef

PRIORITY_METADATA: Final = "archivolt-priority"
BULK: Final = "bulk"
"""The mark of a first load, as metadata of an object."""


def object_key(vault: VaultRef, path: str) -> str:
    """Return the key of a file, or with "" what all keys of the vault begin with."""
    return f"vaults/{vault.tenant}/{vault.id}/{path}"


def info_of(path: VaultPath, answer: Mapping[str, Any], *, size: int) -> FileInfo:
    """Return what an answer about one object, or its entry in a listing, says of the file."""
    return FileInfo(
        path=path,
        size=size,
        etag=etag_of(answer["ETag"]),
        modified=answer["LastModified"],
        version=answer.get("VersionId", ""),
        content_type=answer.get("ContentType", ""),
        bulk=answer.get("Metadata", {}).get(PRIORITY_METADATA) == BULK,
    )


def whole_size(answer: "GetObjectOutputTypeDef") -> int:
    """Return the size of the object of which a part was read."""
    of_part = answer.get("ContentRange", "").rpartition("/")[2]
    return int(of_part) if of_part.isdecimal() else answer["ContentLength"]


def files_in(page: "ListObjectsV2OutputTypeDef", root: str) -> Iterator[FileInfo]:
    """Yield the files of a page of a listing; `root` is what comes before a file's path."""
    for entry in page.get("Contents", []):
        path = _listable(entry.get("Key", "").removeprefix(root))
        if path is not None:
            yield info_of(path, entry, size=entry.get("Size", 0))


def directories_in(page: "ListObjectsV2OutputTypeDef", root: str) -> Iterator[VaultPath]:
    """Yield the direct sub-directories of a page of a listing."""
    for entry in page.get("CommonPrefixes", []):
        path = _listable(entry.get("Prefix", "").removeprefix(root).removesuffix("/"))
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


def _listable(name: str) -> VaultPath | None:
    try:
        path = resolve_path(name)
    except InvalidRequestError:
        return None
    return path if path == name else None
