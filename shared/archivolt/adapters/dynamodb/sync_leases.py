"""Who has a synchronisation running, in the control table.

SYNC#{tenant}#{user}    LEASE    the lease's name, and until when it is held
"""

from contextlib import suppress
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase

from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable
from archivolt.adapters.dynamodb.writes import ABSENT, Delete, Key, Put
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import SYNC_LEASE_SECONDS
from archivolt.ports.clock import Clock

_LEASE: Final = "LEASE"


class DynamoSyncLeases:
    """`SyncLeases` in the control table."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def take(self, tenant: TenantId, user: UserId, lease: str) -> bool:
        """Take the user's lease under a new name."""
        return self._hold(tenant, user, lease, ABSENT | Attr("until").lte(self._now()))

    def keep(self, tenant: TenantId, user: UserId, lease: str) -> bool:
        """Hold a lease for its whole length again."""
        return self._hold(tenant, user, lease, Attr("lease").eq(lease))

    def give_back(self, tenant: TenantId, user: UserId, lease: str) -> None:
        """End a lease."""
        with suppress(ConditionFailedError):
            self._table.write(Delete(key=_key(tenant, user), condition=Attr("lease").eq(lease)))

    def _hold(self, tenant: TenantId, user: UserId, lease: str, condition: ConditionBase) -> bool:
        until = self._now() + SYNC_LEASE_SECONDS
        item = {**_key(tenant, user)._asdict(), "lease": lease, "until": until}
        try:
            self._table.write(Put(item=item, condition=condition))
        except ConditionFailedError:
            return False
        return True

    def _now(self) -> int:
        return int(self._clock.now().timestamp())


def _key(tenant: TenantId, user: UserId) -> Key:
    return Key(f"SYNC#{tenant}#{user}", _LEASE)
