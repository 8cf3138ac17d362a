"""Each tenant's settings in the control table: `TENANT#{tenant}` / `SETTINGS`."""

from dataclasses import asdict, fields
from typing import Any

from boto3.dynamodb.conditions import Attr, ConditionBase

from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import Key, Put
from archivolt.domain.identity import TenantId
from archivolt.domain.settings import TenantSettings


class DynamoTenantSettings:
    """A `TenantSettingsStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def load(self, tenant: TenantId) -> TenantSettings:
        """Return the settings; a field that was not there when they were saved has its default."""
        item = self._table.get(_key(tenant)) or {}
        known: dict[str, Any] = {
            field.name: item[field.name] for field in fields(TenantSettings) if field.name in item
        }
        if "chat_allowed_providers" in known:
            known["chat_allowed_providers"] = tuple(known["chat_allowed_providers"])
        return TenantSettings(**known)

    def save(
        self, tenant: TenantId, settings: TenantSettings, *, over: TenantSettings | None = None
    ) -> None:
        """Replace the settings; those of `over` alone, where it is given."""
        item = {**_key(tenant)._asdict(), **asdict(settings), "revision": settings.revision + 1}
        same = None if over is None else _is(over)
        self._table.write(Put(item=item, condition=same))


def _is(settings: TenantSettings) -> ConditionBase:
    same = Attr("revision").eq(settings.revision)
    # Before they were counted, and before there were any.
    return same if settings.revision else same | Attr("revision").not_exists()


def _key(tenant: TenantId) -> Key:
    return Key(f"TENANT#{tenant}", "SETTINGS")
