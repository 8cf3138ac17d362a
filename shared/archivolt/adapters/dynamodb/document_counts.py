"""How many documents each vault has: some numbers that add up, in the catalogue table.

    DOCUMENTS#{tenant}#{vault_id}    {number}    `documents`, and how often it changed (`changes`)

A number changes in the transaction in which a document comes or goes, so that no crash comes
between the two. A vault has several numbers, chosen by path, for documents that come at once not to
wait for one another.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable
from archivolt.adapters.dynamodb.writes import ABSENT, Key, Put, Update
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef

_NUMBERS: Final = 8


class DocumentCounts:
    """Counts documents in the catalogue table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def change(self, vault: VaultRef, path: VaultPath, *, by: int) -> Update:
        """Return the write that counts a document that comes (1) or goes (-1)."""
        return Update(key=_key(vault, _number_of(path)), add={"documents": by, "changes": 1})

    def totals(self, vaults: Sequence[VaultRef]) -> Mapping[VaultRef, int]:
        """Return the number of documents of each vault."""
        keys = {_key(vault, number): vault for vault in vaults for number in range(_NUMBERS)}
        totals: Counter[VaultRef] = Counter(dict.fromkeys(vaults, 0))
        for key, item in self._table.get_many(list(keys)).items():
            totals[keys[key]] += item["documents"]
        return totals

    def recount(self, vault: VaultRef, documents: Iterable[VaultPath]) -> None:
        """Correct the numbers by the documents that are there, which must be read only now.

        A number that changes meanwhile is left alone: the next time is early enough.
        """
        keys = [_key(vault, number) for number in range(_NUMBERS)]
        before = self._table.get_many(keys)
        there = Counter(_number_of(path) for path in documents)
        for number, key in enumerate(keys):
            seen = before.get(key)
            if (seen["documents"] if seen else 0) == there[number]:
                continue
            changes = seen["changes"] if seen else 0
            item = {**key._asdict(), "documents": there[number], "changes": changes}
            same = Attr("changes").eq(changes) if seen else ABSENT
            with suppress(ConditionFailedError):
                self._table.write(Put(item=item, condition=same))


def _key(vault: VaultRef, number: int) -> Key:
    return Key(f"DOCUMENTS#{vault.tenant}#{vault.id}", str(number))


def _number_of(path: VaultPath) -> int:
    return zlib.crc32(path.encode()) % _NUMBERS
