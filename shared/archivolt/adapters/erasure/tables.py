"""Items of a table that belong to a subject: found by the inventory, removed and counted.

An item and its count go in one transaction, so that a count is exact whatever breaks off where.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.erasures import DynamoErasures
from archivolt.adapters.dynamodb.table import (
    MAX_TRANSACTION_WRITES,
    ConditionFailedError,
    DynamoTable,
    Page,
    StoredItem,
)
from archivolt.adapters.dynamodb.writes import PRESENT, Delete, Key, Write
from archivolt.adapters.erasure.inventory import HEADS
from archivolt.domain.erasure import Erasure, Subject

_KEYS: Final = ("pk", "sk")
# With the count there is one write more.
_AT_ONCE: Final = MAX_TRANSACTION_WRITES - 1
# How many places without anything are looked at before it is noted that they were.
_PASSED_AT_ONCE: Final = 50

Removal = Callable[[StoredItem], Write]


def deletion(item: StoredItem) -> Write:
    """Return what removes an item; where it is another vault's by now, it stays."""
    vault = item.get("vault_id")
    same = PRESENT if vault is None else Attr("vault_id").eq(vault)
    return Delete(key=Key(item["pk"], item["sk"]), condition=same)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to look: a partition, or (`pk` is "") the whole table; with `index`, by its key.

    `belongs` says which items go, by their keys and `reads`; `whole`: their partitions with them.
    `besides` is what has to be written with the removal of an item, all or nothing.
    """

    belongs: Callable[[StoredItem], bool]
    pk: str = ""
    index: str = ""
    index_key: str = ""
    reads: tuple[str, ...] = ()
    whole: bool = False
    removal: Removal = deletion
    besides: Callable[[StoredItem], Sequence[Write]] | None = None


class TableEraser:
    """An `Eraser` of one table.

    Args:
        store: What the receipt calls it.
        table: The table.
        places: Says where to look for a subject.
        records: Counts.

    """

    def __init__(
        self,
        store: str,
        table: DynamoTable,
        places: Callable[[Subject], Sequence[Place]],
        records: DynamoErasures,
    ) -> None:
        self._store = store
        self._table = table
        self._places = places
        self._records = records

    @property
    def store(self) -> str:
        """What the receipt calls the table."""
        return self._store

    def page(self, erasure: Erasure, cursor: str) -> str | None:
        """Remove what belongs to the subject from one page; places without anything are passed."""
        number, after = _place_in(cursor)
        places = self._places(erasure.subject)
        for place in places[number : number + _PASSED_AT_ONCE]:
            page = self._read(place, after)
            found = [item for item in page.items if place.belongs(item)]
            self._remove_found(erasure, place, found)
            if page.last_key is not None:
                return json.dumps([number, dict(page.last_key)])
            number, after = number + 1, None
            if found:
                break
        return json.dumps([number, None]) if number < len(places) else None

    def _remove_found(self, erasure: Erasure, place: Place, found: Sequence[StoredItem]) -> None:
        if place.besides is not None:
            for item in found:
                self._remove_some(erasure, [place.removal(item)], place.besides(item))
        elif not place.whole:
            self._remove(erasure, [place.removal(item) for item in found])
        else:
            for key in dict.fromkeys(item["pk"] for item in found):
                self._remove_partition(erasure, key)

    def _read(self, place: Place, after: Mapping[str, str] | None) -> Page:
        reads = (*_KEYS, *place.reads)
        if not place.pk:
            return self._table.scan_page(after=after, attributes=reads)
        condition = KeyCondition(place.index_key or "pk").eq(place.pk)
        return self._table.page(condition, index=place.index, after=after, attributes=reads)

    def _remove_partition(self, erasure: Erasure, pk: str) -> None:
        """Remove a partition, the head that it is known by last.

        What was added to it meanwhile is there before that is gone, and not after: so it is looked
        at until it is empty.
        """
        while items := list(self._table.items(pk, attributes=_KEYS)):
            parts_first = sorted(items, key=lambda item: item["sk"] in HEADS)
            self._remove(erasure, [deletion(item) for item in parts_first])

    def _remove(self, erasure: Erasure, writes: Sequence[Write]) -> None:
        for start in range(0, len(writes), _AT_ONCE):
            self._remove_some(erasure, writes[start : start + _AT_ONCE])

    def _remove_some(
        self, erasure: Erasure, writes: Sequence[Write], besides: Sequence[Write] = ()
    ) -> None:
        """Remove what is still there of some items; what is gone already was counted."""
        while writes:
            try:
                self._records.removed(erasure, self._store, self._table, writes, besides=besides)
            except ConditionFailedError as error:
                if len(writes) + len(besides) in error.positions:
                    raise  # the record itself is gone: nothing is removed that nobody counts
                writes = [write for at, write in enumerate(writes) if at not in error.positions]
            else:
                return


def _place_in(cursor: str) -> tuple[int, Mapping[str, str] | None]:
    if not cursor:
        return 0, None
    number, after = json.loads(cursor)
    return number, after
