"""Changes of many files: a record in the control table, the files it touches beside it in S3.

    OPERATIONS#{tenant}#{vault_id}    {id}    the record
    derived/{tenant}/{vault_id}/operations/{id}/{digest}    its manifest, JSON

The records are in partitions of their own: functions that may write them may not write vaults.
The manifest is there before the record that names it by its digest: of two that start the same
operation, the one whose record is kept has its own manifest kept too.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, Key, Put, Update
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import OPERATION_KEPT_DAYS
from archivolt.domain.vault import VaultId, VaultRef
from archivolt.ports.operations import Operation, OperationKind

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_OPERATIONS: Final = "OPERATIONS#"
# The bucket's lifecycle rule for old operations knows its objects by this tag.
_TAG: Final = "archivolt-kind=operation"


class DynamoOperations:
    """An `OperationStore` in the control table and one bucket."""

    def __init__(self, table: DynamoTable, s3: "S3Client", bucket: str) -> None:
        self._table = table
        self._s3 = s3
        self._bucket = bucket

    def start(self, operation: Operation, manifest: Sequence[tuple[str, str]]) -> Operation:
        """Note an operation, unless it is noted already."""
        text = json.dumps(list(manifest), ensure_ascii=False).encode()
        digest = hashlib.sha256(text).hexdigest()
        with translated():
            self._s3.put_object(
                Bucket=self._bucket,
                Key=_manifest_key(operation, digest),
                Body=text,
                ContentType="application/json",
                Tagging=_TAG,
            )
        try:
            self._table.write(Put(item=_item(operation, digest), condition=ABSENT))
        except ConditionFailedError:
            return self.get(operation.vault, operation.id) or operation
        return operation

    def manifest(self, operation: Operation) -> Sequence[tuple[str, str]]:
        """Return what was noted at its start."""
        item = self._table.get(_key(operation.vault, operation.id)) or {}
        if not item:
            return ()
        with translated():
            answer = self._s3.get_object(
                Bucket=self._bucket, Key=_manifest_key(operation, item["manifest"])
            )
            entries: list[tuple[str, str]] = json.loads(answer["Body"].read())
        return [(path, etag) for path, etag in entries]

    def get(self, vault: VaultRef, operation_id: str) -> Operation | None:
        """Return an operation of a vault."""
        if not is_key_text(operation_id):
            return None
        item = self._table.get(_key(vault, operation_id))
        return None if item is None else _operation(item)

    def progress(self, operation: Operation, *, done: int, finished: bool, now: datetime) -> None:
        """Note how far it is; what is noted never goes back."""
        changes: dict[str, Value] = {
            "done": done,
            "finished": finished,
            "updated_at": to_number(now),
        }
        if finished:
            changes["ttl"] = int((now + timedelta(days=OPERATION_KEPT_DAYS)).timestamp())
        behind = Attr("finished").eq(value=False) & Attr("done").lte(done)
        try:
            self._table.update(
                Update(key=_key(operation.vault, operation.id), set=changes, condition=behind)
            )
        except ConditionFailedError:
            return

    def operations(self, vault: VaultRef) -> list[Operation]:
        """Return the operations of a vault, the newest first."""
        found = [_operation(item) for item in self._table.items(_key(vault, "").pk)]
        return sorted(found, key=lambda one: (one.started_at, one.id), reverse=True)

    def unfinished(self) -> list[Operation]:
        """Return those of every vault that are not finished; reads the whole table, once a day."""
        wanted = Attr("pk").begins_with(_OPERATIONS) & Attr("finished").eq(value=False)
        return [_operation(item) for item in self._table.scan(wanted)]


def _key(vault: VaultRef, operation_id: str) -> Key:
    return Key(f"{_OPERATIONS}{vault.tenant}#{vault.id}", operation_id)


def _manifest_key(operation: Operation, digest: str) -> str:
    vault = operation.vault
    return f"derived/{vault.tenant}/{vault.id}/operations/{operation.id}/{digest}"


def _item(operation: Operation, digest: str) -> dict[str, Value]:
    return {
        **_key(operation.vault, operation.id)._asdict(),
        "id": operation.id,
        "tenant": operation.vault.tenant,
        "vault_id": operation.vault.id,
        "user": operation.user,
        "kind": operation.kind.value,
        "started_at": to_number(operation.started_at),
        "updated_at": to_number(operation.updated_at),
        "total": operation.total,
        "done": operation.done,
        "finished": operation.finished,
        "parameters": dict(operation.parameters),
        "manifest": digest,
    }


def _operation(item: StoredItem) -> Operation:
    return Operation(
        id=item["id"],
        vault=VaultRef(tenant=TenantId(item["tenant"]), id=VaultId(item["vault_id"])),
        user=UserId(item["user"]),
        kind=OperationKind(item["kind"]),
        started_at=from_number(item["started_at"]),
        updated_at=from_number(item["updated_at"]),
        total=item["total"],
        done=item["done"],
        finished=item["finished"],
        parameters=item["parameters"],
    )
