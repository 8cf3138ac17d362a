"""Vectors by text, in packs: `derived/{tenant}/{vault_id}/vectors/{sha256}/{model}-{pack}`.

A pack holds what was embedded for one content. It is a head of four little-endian 32-bit numbers (a
mark, the format, how many vectors, their length), then the digests of the texts, then the vectors
as 32-bit floats. Which pack has a text, `VectorPlaces` knows: it is told after the pack is there.
What cannot be read, or is gone, counts as absent.
"""

import hashlib
import struct
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final

from archivolt.adapters.aws.errors import translated
from archivolt.domain.errors import NotFoundError
from archivolt.domain.limits import MAX_PARALLEL_FILES
from archivolt.domain.vault import VaultRef
from archivolt.ports.ingestion import KeptVector, VectorPlaces
from archivolt.ports.retrieval import Vector

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_HEAD: Final = struct.Struct("<4sIII")
_MARK: Final = b"AVVC"
_FORMAT: Final = 2
_DIGEST_BYTES: Final = 20
_FLOAT_BYTES: Final = 4


class S3VectorCache:
    """A `VectorCache` in one bucket.

    Args:
        client: Reaches the bucket.
        bucket: Its name.
        places: Knows which pack has a text.

    """

    def __init__(self, client: "S3Client", bucket: str, places: VectorPlaces) -> None:
        self._client = client
        self._bucket = bucket
        self._places = places

    def load(self, vault: VaultRef, digests: Sequence[str], model: str) -> Mapping[str, KeptVector]:
        """Return the vectors of those of these texts that have one by this model."""
        wanted = defaultdict[str, list[str]](list)
        for digest, pack in self._places.find(vault, _model_key(model), digests).items():
            wanted[pack].append(digest)
        found: dict[str, KeptVector] = {}
        for pack, held in zip(wanted, self._packs(vault, list(wanted)), strict=True):
            sha256 = pack.partition("/")[0]
            found |= {
                digest: KeptVector(vector=held[digest], sha256=sha256)
                for digest in wanted[pack]
                if digest in held
            }
        return found

    def store(
        self, vault: VaultRef, sha256: str, model: str, vectors: Mapping[str, Vector]
    ) -> None:
        """Keep the vectors of texts with a content; safe to repeat."""
        if not vectors:
            return
        name = hashlib.sha256("".join(sorted(vectors)).encode()).hexdigest()[:16]
        pack = f"{sha256}/{_model_key(model)}-{name}"
        with translated():
            self._client.put_object(
                Bucket=self._bucket, Key=f"{_root(vault)}{pack}", Body=_packed(vectors)
            )
        self._places.note(vault, _model_key(model), list(vectors), pack)

    def forget(self, vault: VaultRef, sha256: str) -> None:
        """Forget what is kept with a content; texts that other packs are noted for stay known."""
        with translated():
            page = self._client.list_objects_v2(
                Bucket=self._bucket, Prefix=f"{_root(vault)}{sha256}/"
            )
        for entry in page.get("Contents", []):
            key = entry.get("Key", "")
            self._forget_pack(vault, key.removeprefix(_root(vault)))
            with translated():
                self._client.delete_object(Bucket=self._bucket, Key=key)

    def _forget_pack(self, vault: VaultRef, pack: str) -> None:
        model = pack.partition("/")[2].partition("-")[0]
        held = self._pack(vault, pack)
        noted = self._places.find(vault, model, list(held))
        self._places.forget(vault, model, [each for each in noted if noted[each] == pack])

    def contents(self, vault: VaultRef) -> Iterator[str]:
        """Yield the hash of every content that vectors are kept with."""
        root = _root(vault)
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=root, Delimiter="/"
        )
        with translated():
            for page in pages:
                for entry in page.get("CommonPrefixes", []):
                    yield entry.get("Prefix", "").removeprefix(root).removesuffix("/")

    def _packs(self, vault: VaultRef, packs: Sequence[str]) -> Sequence[Mapping[str, Vector]]:
        if len(packs) < 2:  # noqa: PLR2004  a thread for one is none saved
            return [self._pack(vault, pack) for pack in packs]
        with ThreadPoolExecutor(min(len(packs), MAX_PARALLEL_FILES)) as pool:
            return list(pool.map(partial(self._pack, vault), packs))

    def _pack(self, vault: VaultRef, pack: str) -> Mapping[str, Vector]:
        try:
            with translated({"NoSuchKey": NotFoundError("not_found")}):
                answer = self._client.get_object(Bucket=self._bucket, Key=f"{_root(vault)}{pack}")
                data = answer["Body"].read()
        except NotFoundError:
            return {}
        return _unpacked(data)


def _root(vault: VaultRef) -> str:
    return f"derived/{vault.tenant}/{vault.id}/vectors/"


def _model_key(model: str) -> str:
    return hashlib.sha256(model.encode()).hexdigest()[:16]


def _packed(vectors: Mapping[str, Vector]) -> bytes:
    length = max(map(len, vectors.values()), default=0)
    return b"".join(
        [
            _HEAD.pack(_MARK, _FORMAT, len(vectors), length),
            *map(bytes.fromhex, vectors),
            *(_little_endian(array("f", vector)).tobytes() for vector in vectors.values()),
        ]
    )


def _unpacked(data: bytes) -> Mapping[str, Vector]:
    if len(data) < _HEAD.size:
        return {}
    mark, version, count, length = _HEAD.unpack_from(data)
    width, start = length * _FLOAT_BYTES, _HEAD.size + count * _DIGEST_BYTES
    if (mark, version) != (_MARK, _FORMAT) or len(data) != start + count * width:
        return {}
    digests = [
        data[at : at + _DIGEST_BYTES].hex() for at in range(_HEAD.size, start, _DIGEST_BYTES)
    ]
    return {
        digest: _little_endian(array("f", data[start + n * width : start + (n + 1) * width]))
        for n, digest in enumerate(digests)
    }


def _little_endian(floats: "array[float]") -> "array[float]":
    if sys.byteorder == "big":
        floats.byteswap()
    return floats
