"""Calls per window in the ledger table: `RATE#{key}` / the window's first second."""

from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import Key, Update


class DynamoRateCounter:
    """A `RateCounter` in the ledger table.

    A lost answer is repeated and may count a call twice, never not at all.
    """

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def increment(self, key: str, *, window_start: int, expires_at: int) -> int:
        """Add one and return the new count; the item goes some time after `expires_at`."""
        # Ten digits, so that text order is the order of time.
        where = Key(f"RATE#{key}", f"{window_start:010d}")
        item = self._table.update(Update(key=where, set={"ttl": expires_at}, add={"calls": 1}))
        return int(item["calls"])
