"""How many documents each vault has: some numbers that add up, in the catalogue table.

    DOCUMENTS#{tenant}#{vault_id}    {number}    `documents`, and how often it changed (`changes`)

A number changes in the transaction in which a document comes or goes, so that no crash comes
between the two. A vault has several numbers, chosen by path, for documents that come at once not to
wait for one another.
"""

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
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

    def recount(self, vault: VaultRef) -> "Recount":
        """Begin to count the documents of a vault, whose entries must be read only now."""
        return Recount(self._table, vault)


class Recount:
    """Counts the documents that are there, and then corrects what is wrong.

    A number that changes meanwhile is left alone: the next time is early enough.
    """

    def __init__(self, table: DynamoTable, vault: VaultRef) -> None:
        self._table = table
        self._keys = [_key(vault, number) for number in range(_NUMBERS)]
        self._before = table.get_many(self._keys)
        self._there = Counter[int]()

    def note(self, path: VaultPath) -> None:
        """Count one document."""
        self._there[_number_of(path)] += 1

    def correct(self) -> None:
        """Write the numbers that are wrong; every document was noted."""
        for number, key in enumerate(self._keys):
            seen = self._before.get(key)
            if (seen["documents"] if seen else 0) == self._there[number]:
                continue
            changes = seen["changes"] if seen else 0
            item = {**key._asdict(), "documents": self._there[number], "changes": changes}
            same = Attr("changes").eq(changes) if seen else ABSENT
            with suppress(ConditionFailedError):
                self._table.write(Put(item=item, condition=same))


def _key(vault: VaultRef, number: int) -> Key:
    return Key(f"DOCUMENTS#{vault.tenant}#{vault.id}", str(number))


def _number_of(path: VaultPath) -> int:
    return zlib.crc32(path.encode()) % _NUMBERS
