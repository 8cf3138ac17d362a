"""The exported audit log: files in the bucket, and the seals also in the audit table.

audit/{tenant}/{date}.jsonl.gz      the entries of a day
audit/{tenant}/{date}.seal.json     its seal
SEALS#{tenant}    {date}            the same seal, in the table
"""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, Put
from archivolt.adapters.s3.objects import Bucket
from archivolt.domain.audit import ChainHead, DaySeal
from archivolt.domain.identity import TenantId

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import ListObjectsV2OutputTypeDef

# A file that cannot be unpacked: none of its lines is an entry.
_UNREADABLE = b"\0"
_FOLDER: Final = "audit/"
_ABSENT = frozenset({"NoSuchKey", "404"})


class DynamoAuditSeals:
    """An `AuditSeals` on the audit table and a bucket."""

    def __init__(self, table: DynamoTable, bucket: Bucket) -> None:
        self._table = table
        self._bucket = bucket

    def seals(self, tenant: TenantId) -> Sequence[DaySeal]:
        """Return the seals of a tenant as they were noted, the oldest first."""
        return [_seal(item["sk"], item) for item in self._table.items(_pk(tenant))]

    def keep(self, tenant: TenantId, seal: DaySeal, content: bytes) -> None:
        """Export a day and note its seal, the note last: what is not noted is exported again."""
        written = json.dumps(_fields(seal), sort_keys=True).encode()
        packed = gzip.compress(content, mtime=0)
        with translated():
            self._put(_key(tenant, seal.day, "jsonl.gz"), packed, "application/gzip")
            self._put(_key(tenant, seal.day, "seal.json"), written, "application/json")
        item = {"pk": _pk(tenant), "sk": seal.day.isoformat(), **_fields(seal)}
        # Another run was sealing the same day.
        with suppress(ConditionFailedError):
            self._table.write(Put(item=item, condition=ABSENT))

    def tenants(self) -> Sequence[TenantId]:
        """Return the tenants of which something was exported."""
        folders = [
            folder.get("Prefix", "").removeprefix(_FOLDER).rstrip("/")
            for page in self._pages(Prefix=_FOLDER, Delimiter="/")
            for folder in page.get("CommonPrefixes", [])
        ]
        return [TenantId(folder) for folder in folders]

    def exported_days(self, tenant: TenantId) -> Sequence[date]:
        """Return the days of a tenant of which there are exported files, the oldest first."""
        folder = f"{_FOLDER}{tenant}/"
        names = [
            entry.get("Key", "").removeprefix(folder).partition(".")[0]
            for page in self._pages(Prefix=folder)
            for entry in page.get("Contents", [])
        ]
        return sorted({date.fromisoformat(name) for name in names})

    def _pages(self, **wanted: str) -> "Iterator[ListObjectsV2OutputTypeDef]":
        pages = self._bucket.client.get_paginator("list_objects_v2")
        arguments: Any = wanted
        with translated():
            yield from pages.paginate(Bucket=self._bucket.name, **arguments)

    def content(self, tenant: TenantId, day: date) -> bytes | None:
        """Return the exported file of a day as it is now."""
        packed = self._read(_key(tenant, day, "jsonl.gz"))
        try:
            return None if packed is None else gzip.decompress(packed)
        except (OSError, EOFError):
            return _UNREADABLE

    def exported_seal(self, tenant: TenantId, day: date) -> DaySeal | None:
        """Return the seal that was exported with the day, None where there is none that reads."""
        written = self._read(_key(tenant, day, "seal.json"))
        try:
            return None if written is None else _seal(day.isoformat(), json.loads(written))
        except (ValueError, TypeError, KeyError):
            return None

    def _put(self, key: str, body: bytes, content_type: str) -> None:
        self._bucket.client.put_object(
            Bucket=self._bucket.name, Key=key, Body=body, ContentType=content_type
        )

    def _read(self, key: str) -> bytes | None:
        with translated():
            try:
                return self._bucket.client.get_object(Bucket=self._bucket.name, Key=key)[
                    "Body"
                ].read()
            except ClientError as error:
                if code_of(error) in _ABSENT:
                    return None
                raise


def _pk(tenant: TenantId) -> str:
    return f"SEALS#{tenant}"


def _key(tenant: TenantId, day: date, ending: str) -> str:
    return f"{_FOLDER}{tenant}/{day.isoformat()}.{ending}"


def _fields(seal: DaySeal) -> dict[str, Value]:
    return {
        "entries": seal.entries,
        "content": seal.content,
        "previous": seal.previous,
        "lanes": {str(lane): [head.number, head.digest] for lane, head in seal.lanes.items()},
    }


def _seal(day: str, fields: Mapping[str, Any]) -> DaySeal:
    lanes = {
        int(lane): ChainHead(lane=int(lane), number=number, digest=digest)
        for lane, (number, digest) in fields["lanes"].items()
    }
    return DaySeal(
        day=date.fromisoformat(day),
        entries=fields["entries"],
        content=fields["content"],
        lanes=lanes,
        previous=fields["previous"],
    )
