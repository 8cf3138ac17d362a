"""Each user's own settings in the control table: `PERSON#{tenant}#{user}` / `SETTINGS`."""

from dataclasses import asdict, fields
from typing import Any

from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import Key, Put
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.user_settings import UserSettings


class DynamoUserSettings:
    """A `UserSettingsStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def load(self, tenant: TenantId, user: UserId) -> UserSettings:
        """Return the settings; a field that was not there when they were saved has its default."""
        item = self._table.get(_key(tenant, user)) or {}
        known: dict[str, Any] = {
            field.name: item[field.name] for field in fields(UserSettings) if field.name in item
        }
        return UserSettings(**known)

    def save(self, tenant: TenantId, user: UserId, settings: UserSettings) -> None:
        """Replace the settings."""
        item = {**_key(tenant, user)._asdict(), **asdict(settings)}
        self._table.write(Put(item=item))


def _key(tenant: TenantId, user: UserId) -> Key:
    return Key(f"PERSON#{tenant}#{user}", "SETTINGS")
