"""Vectors by content as objects: `derived/{tenant}/{vault_id}/vectors/{sha256}/{fingerprint}`.

An object is a head of four little-endian 32-bit numbers (a mark, the format, how many vectors,
their length), then the vectors as 32-bit floats. What cannot be read counts as absent.
"""

import hashlib
import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from archivolt.adapters.aws.errors import translated
from archivolt.domain.errors import NotFoundError
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Vector

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_HEAD: Final = struct.Struct("<4sIII")
_MARK: Final = b"AVVC"
_FORMAT: Final = 1
_FLOAT_BYTES: Final = 4


class S3VectorCache:
    """A `VectorCache` in one bucket."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def load(self, vault: VaultRef, sha256: str, fingerprint: str) -> list[Vector]:
        """Return the vectors of a content, in order; empty if there are none."""
        try:
            with translated({"NoSuchKey": NotFoundError("not_found")}):
                answer = self._client.get_object(
                    Bucket=self._bucket, Key=_key(vault, sha256, fingerprint)
                )
                data = answer["Body"].read()
        except NotFoundError:
            return []
        return _unpacked(data)

    def store(
        self, vault: VaultRef, sha256: str, fingerprint: str, vectors: Sequence[Vector]
    ) -> None:
        """Remember the vectors of a content, or the first of them."""
        key = _key(vault, sha256, fingerprint)
        with translated():
            self._client.put_object(Bucket=self._bucket, Key=key, Body=_packed(vectors))

    def forget(self, vault: VaultRef, sha256: str) -> None:
        """Forget a content under every fingerprint."""
        with translated():
            page = self._client.list_objects_v2(
                Bucket=self._bucket, Prefix=f"{_root(vault)}{sha256}/"
            )
            for entry in page.get("Contents", []):
                self._client.delete_object(Bucket=self._bucket, Key=entry.get("Key", ""))

    def contents(self, vault: VaultRef) -> Iterator[str]:
        """Yield the hash of every content that has vectors."""
        root = _root(vault)
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=root, Delimiter="/"
        )
        with translated():
            for page in pages:
                for entry in page.get("CommonPrefixes", []):
                    yield entry.get("Prefix", "").removeprefix(root).removesuffix("/")


def _root(vault: VaultRef) -> str:
    return f"derived/{vault.tenant}/{vault.id}/vectors/"


def _key(vault: VaultRef, sha256: str, fingerprint: str) -> str:
    digest = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
    return f"{_root(vault)}{sha256}/{digest}"


def _packed(vectors: Sequence[Vector]) -> bytes:
    length = len(vectors[0]) if vectors else 0
    head = _HEAD.pack(_MARK, _FORMAT, len(vectors), length)
    return head + b"".join(_little_endian(array("f", vector)).tobytes() for vector in vectors)


def _unpacked(data: bytes) -> list[Vector]:
    if len(data) < _HEAD.size:
        return []
    mark, version, count, length = _HEAD.unpack_from(data)
    width = length * _FLOAT_BYTES
    if (mark, version) != (_MARK, _FORMAT) or len(data) != _HEAD.size + count * width:
        return []
    starts = range(_HEAD.size, len(data), width) if width else range(0)
    return [_little_endian(array("f", data[start : start + width])) for start in starts]


def _little_endian(floats: "array[float]") -> "array[float]":
    if sys.byteorder == "big":
        floats.byteswap()
    return floats
