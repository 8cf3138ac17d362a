"""Comparisons and rebuilds of each vault's index, one item each, in the catalogue table.

RUNS#{tenant}#{vault_id}    RUN    when compared; while it is rebuilt: since when, and how far
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable, StoredItem
from archivolt.adapters.dynamodb.writes import Key, Update
from archivolt.domain.limits import REBUILD_SECONDS
from archivolt.domain.vault import VaultRef
from archivolt.ports.index_runs import IndexRun

if TYPE_CHECKING:
    from archivolt.adapters.dynamodb.values import Value

_REBUILD: Final = ("rebuild_since", "asked_at", "rebuilt")


class DynamoIndexRuns:
    """`IndexRuns` in the catalogue table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def get(self, vault: VaultRef) -> IndexRun:
        """Return where a vault stands."""
        item = self._table.get(_key(vault)) or {}
        return IndexRun(
            compared_at=_moment(item, "compared_at"),
            rebuild_since=_moment(item, "rebuild_since"),
            asked_at=_moment(item, "asked_at"),
            rebuilt=item.get("rebuilt", 0),
        )

    def ask_rebuild(self, vault: VaultRef, *, now: datetime) -> bool:
        """Note that the index of a vault is to be rebuilt."""
        known = self.get(vault)
        if known.asked_at and now < known.asked_at + timedelta(seconds=REBUILD_SECONDS):
            return False
        changed: dict[str, Value] = {"asked_at": now.isoformat()}
        if not known.is_rebuilding:
            changed |= {"rebuild_since": now.isoformat(), "rebuilt": 0}
        asked = Attr("asked_at")
        same = asked.eq(known.asked_at.isoformat()) if known.asked_at else asked.not_exists()
        try:
            self._table.update(Update(key=_key(vault), set=changed, condition=same))
        except ConditionFailedError:
            return False
        return True

    def release(self, vault: VaultRef) -> None:
        """Let a rebuild be asked for again at once."""
        self._table.update(Update(key=_key(vault), remove=["asked_at"]))

    def note_rebuilt(self, vault: VaultRef, *, documents: int) -> None:
        """Count documents that were made anew."""
        condition = Attr("rebuild_since").exists()
        with suppress(ConditionFailedError):
            self._table.update(
                Update(key=_key(vault), add={"rebuilt": documents}, condition=condition)
            )

    def finish(self, vault: VaultRef, *, now: datetime, rebuilt: datetime | None = None) -> None:
        """Note that a comparison reached the end."""
        compared = {"compared_at": now.isoformat()}
        self._table.update(Update(key=_key(vault), set=compared))
        if rebuilt is not None:
            same = Attr("rebuild_since").eq(rebuilt.isoformat())
            with suppress(ConditionFailedError):
                self._table.update(Update(key=_key(vault), remove=_REBUILD, condition=same))


def _key(vault: VaultRef) -> Key:
    return Key(f"RUNS#{vault.tenant}#{vault.id}", "RUN")


def _moment(item: StoredItem, name: str) -> datetime | None:
    text = item.get(name)
    return datetime.fromisoformat(text) if text else None
