"""Calls per window in the ledger table: `RATE#{key}` / the window's first second."""

from collections.abc import Mapping, Sequence

from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import Key, Update


class DynamoRateCounter:
    """A `RateCounter` in the ledger table.

    A lost answer is repeated and may count a call twice, never not at all.
    """

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def add(
        self, key: str, names: Sequence[str], *, window: int, expires_at: int
    ) -> Mapping[str, int]:
        """Add one to each named count; the item goes some time after `expires_at`."""
        # Ten digits, so that text order is the order of time.
        where = Key(f"RATE#{key}", f"{window:010d}")
        add = dict.fromkeys(names, 1)
        item = self._table.update(Update(key=where, set={"ttl": expires_at}, add=add))
        return {name: int(item[name]) for name in names}
