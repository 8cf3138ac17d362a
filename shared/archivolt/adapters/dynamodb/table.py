"""A table, as the adapters of this package see it: items by partition and sort key.

Reads are strongly consistent unless they go through an index. A write whose condition does not
hold raises `ConditionFailedError`; what that means is the adapter's to say.
"""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from boto3.dynamodb.conditions import ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition
from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated
from archivolt.adapters.dynamodb.values import Item, from_attributes, to_attributes
from archivolt.adapters.dynamodb.writes import (
    Delete,
    Key,
    Put,
    Update,
    Write,
    condition_arguments,
)
from archivolt.domain.errors import ConflictError, UnavailableError

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

# What one request may carry (Amazon DynamoDB developer guide, "Quotas").
MAX_TRANSACTION_WRITES: Final = 100
_MAX_BATCH_READS: Final = 100
_MAX_BATCH_WRITES: Final = 25
_MAX_KEY_BYTES: Final = 1_024

_ATTEMPTS: Final = 6
_FIRST_PAUSE_SECONDS: Final = 0.02
_LONGEST_PAUSE_SECONDS: Final = 0.64

StoredItem = dict[str, Any]
_T = TypeVar("_T")


class ConditionFailedError(ConflictError):
    """The condition of a write does not hold; `positions` are those of a transaction's writes."""

    def __init__(self, positions: frozenset[int] = frozenset({0})) -> None:
        super().__init__("conflict")
        self.positions = positions


class Page(NamedTuple):
    """Some items of a query, and the key after which it goes on (None: it is complete)."""

    items: list[StoredItem]
    last_key: Mapping[str, str] | None


class DynamoTable:
    """One table with the keys `pk` and `sk`. Every method may raise `UnavailableError`."""

    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self._client = client
        self._name = name

    def get(self, key: Key) -> StoredItem | None:
        """Return an item, or None."""
        with translated():
            answer = self._client.get_item(
                TableName=self._name, Key=to_attributes(key._asdict()), ConsistentRead=True
            )
        return from_attributes(answer["Item"]) if "Item" in answer else None

    def get_many(self, keys: Sequence[Key]) -> dict[Key, StoredItem]:
        """Return the items that exist, by key."""
        found: dict[Key, StoredItem] = {}
        for batch in _batches(list(dict.fromkeys(keys)), _MAX_BATCH_READS):
            request: Any = {"Keys": [to_attributes(key._asdict()) for key in batch]}
            pending: Any = {self._name: {**request, "ConsistentRead": True}}
            for _ in _attempts():
                with translated():
                    answer = self._client.batch_get_item(RequestItems=pending)
                for item in map(from_attributes, answer["Responses"].get(self._name, [])):
                    found[Key(item["pk"], item["sk"])] = item
                pending = answer.get("UnprocessedKeys")
                if not pending:
                    break
        return found

    def write(self, write: Put | Delete) -> None:
        """Write or remove one item.

        Raises:
            ConditionFailedError: Its condition does not hold.

        """
        with translated({"ConditionalCheckFailedException": ConditionFailedError()}):
            if isinstance(write, Put):
                self._client.put_item(TableName=self._name, **write.arguments())
            else:
                self._client.delete_item(TableName=self._name, **write.arguments())

    def remove(self, key: Key) -> StoredItem | None:
        """Remove one item and return it as it was, None if there was none."""
        with translated():
            answer = self._client.delete_item(
                TableName=self._name, Key=to_attributes(key._asdict()), ReturnValues="ALL_OLD"
            )
        return from_attributes(answer["Attributes"]) if answer.get("Attributes") else None

    def update(self, update: Update) -> StoredItem:
        """Change one item and return it as it is then.

        Raises:
            ConditionFailedError: Its condition does not hold.

        """
        with translated({"ConditionalCheckFailedException": ConditionFailedError()}):
            answer = self._client.update_item(
                TableName=self._name, ReturnValues="ALL_NEW", **update.arguments()
            )
        return from_attributes(answer.get("Attributes", {}))

    def transact(
        self,
        writes: Sequence[Write],
        *,
        attempts: int = _ATTEMPTS,
        beside: "Sequence[tuple[DynamoTable, Write]]" = (),
    ) -> None:
        """Do all of the writes (at most 100, on different items) or none.

        A lost answer is safe: the client repeats the request under the same token. `attempts` is
        how often to try while other transactions are at the same items; `beside` are writes to
        other tables, whose positions come after.

        Raises:
            ConditionFailedError: With the positions of the writes whose conditions do not hold.

        """
        requests = [write.request(self._name) for write in writes]
        requests += [write.request(table._name) for table, write in beside]  # noqa: SLF001  ours
        for _ in _attempts(attempts):
            try:
                with translated():
                    self._client.transact_write_items(TransactItems=requests)
            except ClientError as error:
                _raise_unless_contended(error)
            else:
                return

    def put_many(self, items: Sequence[Item]) -> None:
        """Write whole items of different keys; not atomic, and safe to repeat."""
        self._write_many([{"PutRequest": {"Item": to_attributes(item)}} for item in items])

    def delete_many(self, keys: Sequence[Key]) -> None:
        """Remove items; not atomic, and safe to repeat."""
        self._write_many([{"DeleteRequest": {"Key": to_attributes(key._asdict())}} for key in keys])

    def _write_many(self, requests: Sequence[Mapping[str, Any]]) -> None:
        for batch in _batches(requests, _MAX_BATCH_WRITES):
            pending: Any = {self._name: list(batch)}
            for _ in _attempts():
                with translated():
                    answer = self._client.batch_write_item(RequestItems=pending)
                pending = answer.get("UnprocessedItems")
                if not pending:
                    break

    def items(
        self, pk: str, *, prefix: str = "", attributes: Sequence[str] = ()
    ) -> Iterator[StoredItem]:
        """Yield the items of a partition whose sort key begins with `prefix`, in key order."""
        condition = KeyCondition("pk").eq(pk)
        if prefix:
            condition &= KeyCondition("sk").begins_with(prefix)
        last_key = None
        while True:
            page = self.page(condition, after=last_key, attributes=attributes)
            yield from page.items
            last_key = page.last_key
            if last_key is None:
                return

    def page(
        self,
        condition: ConditionBase,
        *,
        index: str = "",
        limit: int | None = None,
        after: Mapping[str, str] | None = None,
        descending: bool = False,
        attributes: Sequence[str] = (),
    ) -> Page:
        """Return one page of a query by a key condition; `attributes` narrows what is read."""
        arguments = condition_arguments(condition, argument="KeyConditionExpression", is_key=True)
        if attributes:
            names = {f"#a{number}": name for number, name in enumerate(attributes)}
            arguments["ProjectionExpression"] = ", ".join(names)
            arguments["ExpressionAttributeNames"] |= names
        if index:
            arguments["IndexName"] = index
        else:
            arguments["ConsistentRead"] = True
        if limit is not None:
            arguments["Limit"] = limit
        if after is not None:
            arguments["ExclusiveStartKey"] = to_attributes(after)
        with translated():
            answer = self._client.query(
                TableName=self._name, ScanIndexForward=not descending, **arguments
            )
        last_key = answer.get("LastEvaluatedKey")
        return Page(
            items=[from_attributes(item) for item in answer["Items"]],
            last_key=from_attributes(last_key) if last_key else None,
        )

    def scan_page(
        self,
        *,
        index: str = "",
        limit: int | None = None,
        after: Mapping[str, str] | None = None,
        attributes: Sequence[str],
    ) -> Page:
        """Return one page of a walk through the whole table, or an index, reading these alone."""
        names = {f"#a{number}": name for number, name in enumerate(attributes)}
        arguments: dict[str, Any] = {"IndexName": index} if index else {"ConsistentRead": True}
        if limit is not None:
            arguments["Limit"] = limit
        if after is not None:
            arguments["ExclusiveStartKey"] = to_attributes(after)
        with translated():
            answer = self._client.scan(
                TableName=self._name,
                ProjectionExpression=", ".join(names),
                ExpressionAttributeNames=names,
                **arguments,
            )
        last_key = answer.get("LastEvaluatedKey")
        return Page(
            items=[from_attributes(item) for item in answer["Items"]],
            last_key=from_attributes(last_key) if last_key else None,
        )

    def scan(self, condition: ConditionBase) -> Iterator[StoredItem]:
        """Yield the items of the whole table that fulfil a condition (reads every item)."""
        arguments = condition_arguments(condition, argument="FilterExpression")
        while True:
            with translated():
                answer = self._client.scan(TableName=self._name, ConsistentRead=True, **arguments)
            yield from map(from_attributes, answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def is_key_text(text: str) -> bool:
    """Tell whether text of a caller can be part of a key; what cannot is in no table."""
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        return False
    return 0 < len(encoded) < _MAX_KEY_BYTES // 2


def _raise_unless_contended(error: ClientError) -> None:
    """Return if every reason is another transaction on the same items: those are worth a retry."""
    if code_of(error) != "TransactionCanceledException":
        raise error
    reasons: Sequence[Mapping[str, Any]] = error.response.get("CancellationReasons", [])
    codes = [reason.get("Code", "None") for reason in reasons]
    failed = frozenset(n for n, code in enumerate(codes) if code == "ConditionalCheckFailed")
    if failed:
        raise ConditionFailedError(failed) from error
    if not set(codes) <= {"None", "TransactionConflict", "ThrottlingError"}:
        raise error


def _attempts(attempts: int = _ATTEMPTS) -> Iterator[int]:
    """Yield a few times, pausing longer each time; then the table counts as unavailable."""
    for attempt in range(attempts):
        if attempt:
            ceiling = min(_FIRST_PAUSE_SECONDS * 2**attempt, _LONGEST_PAUSE_SECONDS)
            time.sleep(random.uniform(ceiling / 2, ceiling))  # noqa: S311  spreads retries, no secret
        yield attempt
    raise UnavailableError("unavailable")


def _batches(entries: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for start in range(0, len(entries), size):
        yield entries[start : start + size]
