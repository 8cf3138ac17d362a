"""Each user's own settings in the control table: `PERSON#{tenant}#{user}` / `SETTINGS`."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from archivolt.adapters.dynamodb.table import DynamoTable, StoredItem
from archivolt.adapters.dynamodb.writes import Key, Update
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.user_settings import UserSettings


class DynamoUserSettings:
    """A `UserSettingsStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def load(self, tenant: TenantId, user: UserId) -> UserSettings:
        """Return the settings; a field that was not there when they were saved has its default."""
        return _settings(self._table.get(_key(tenant, user)) or {})

    def change(self, tenant: TenantId, user: UserId, changes: Mapping[str, bool]) -> UserSettings:
        """Set fields by their names, leave the others as they are, and return all."""
        if not changes:
            return self.load(tenant, user)
        return _settings(self._table.update(Update(key=_key(tenant, user), set=changes)))


def _settings(item: StoredItem) -> UserSettings:
    known: dict[str, Any] = {
        field.name: item[field.name] for field in fields(UserSettings) if field.name in item
    }
    return UserSettings(**known)


def _key(tenant: TenantId, user: UserId) -> Key:
    return Key(f"PERSON#{tenant}#{user}", "SETTINGS")
