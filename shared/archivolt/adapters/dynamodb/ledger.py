"""The ledger table, a partition a tenant: `TENANT#{tenant}`.

`HELD#{expiry}#{id}` is a reservation, `MONTH#{month}` what the tenant used in a month, and
`USER#{month}#{user}` what a user did. A month's `committed` is what is spent and what is set aside:
the one number that a condition can hold to the budget. So is a day's `held` to a user's limit.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.ledger_items import (
    held_item,
    held_key,
    month_key,
    pk_of,
    reservation_in,
    usage_changes,
    usage_in,
    user_key,
    user_prefix,
)
from archivolt.adapters.dynamodb.moments import to_number
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable
from archivolt.adapters.dynamodb.writes import ABSENT, PRESENT, Delete, Key, Put, Update, Write
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.usage import Balance, Budgets, Reservation, Tokens, UsageOf
from archivolt.ports.ledger import Limit

# Everybody of a tenant writes to one item: a burst of calls takes its turns.
_ATTEMPTS: Final = 20
_MONTH, _USER = 1, 2


class DynamoLedger:
    """A `Ledger` in the ledger table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def reserve(self, reservation: Reservation, budgets: Budgets) -> Limit | None:
        """Set the worst case of a call aside in one step, or return the limit it does not fit."""
        worst = reservation.worst.total
        try:
            month = _room("committed", reservation.micros, budgets.monthly_micros)
            user = _room(_held(reservation), worst, budgets.daily_tokens)
        except _TooSmallError as error:
            return Limit.MONTH if error.name == "committed" else Limit.DAY
        writes: list[Write] = [
            Put(item=held_item(reservation), condition=ABSENT),
            Update(
                key=month_key(reservation.tenant, reservation.month),
                add={"committed": reservation.micros},
                condition=month,
            ),
            Update(key=_user_key(reservation), add={_held(reservation): worst}, condition=user),
        ]
        try:
            self._table.transact(writes, attempts=_ATTEMPTS)
        except ConditionFailedError as error:
            if _MONTH in error.positions:
                return Limit.MONTH
            if _USER in error.positions:
                return Limit.DAY
            raise
        return None

    def mark_sent(self, reservation: Reservation) -> bool:
        """Note that the call leaves; False: the reservation is no more, and it must not."""
        try:
            self._table.update(
                Update(key=held_key(reservation), set={"sent": True}, condition=PRESENT)
            )
        except ConditionFailedError:
            return False
        return True

    def settle(self, reservation: Reservation, used: Tokens, micros: int) -> bool:
        """Put what a call used in the place of its worst case, and count it."""
        counted = usage_changes(reservation, used, micros)
        return self._end(
            reservation,
            month={**counted, "spent": micros, "committed": micros - reservation.micros},
            user={**counted, _held(reservation): used.total - reservation.worst.total},
        )

    def give_back(self, reservation: Reservation) -> bool:
        """End a reservation whose call used nothing."""
        return self._end(
            reservation,
            month={"committed": -reservation.micros},
            user={_held(reservation): -reservation.worst.total},
        )

    def _end(
        self, reservation: Reservation, *, month: Mapping[str, int], user: Mapping[str, int]
    ) -> bool:
        writes: list[Write] = [
            Delete(key=held_key(reservation), condition=Attr("sent").eq(reservation.sent)),
            Update(key=month_key(reservation.tenant, reservation.month), add=month),
            Update(key=_user_key(reservation), add=user),
        ]
        try:
            self._table.transact(writes, attempts=_ATTEMPTS)
        except ConditionFailedError:
            return False
        return True

    def expired(self, tenant: TenantId, now: datetime, *, limit: int) -> list[Reservation]:
        """Return reservations of a tenant that nobody ended in time, the oldest first."""
        until = f"HELD#{to_number(now):020d}"
        condition = KeyCondition("pk").eq(pk_of(tenant)) & KeyCondition("sk").between(
            "HELD#", until
        )
        page = self._table.page(condition, limit=limit)
        return [reservation_in(item, tenant) for item in page.items]

    def balance(self, tenant: TenantId, month: str) -> Balance:
        """Return how a tenant stands in a month."""
        item = self._table.get(month_key(tenant, month)) or {}
        spent = int(item.get("spent", 0))
        reserved = int(item.get("committed", 0)) - spent
        return Balance(spent=spent, reserved=reserved, warned=bool(item.get("warned")))

    def tokens_of_day(self, tenant: TenantId, user: UserId, day: str) -> int:
        """Return how many tokens a user used in a day, with those set aside."""
        item = self._table.get(user_key(tenant, user, day[:7])) or {}
        return int(item.get(f"held:{day}", 0))

    def note_warning(self, tenant: TenantId, month: str) -> bool:
        """Note that the tenant was warned in a month; True the first time."""
        first = Attr("warned").not_exists()
        try:
            self._table.update(
                Update(key=month_key(tenant, month), set={"warned": True}, condition=first)
            )
        except ConditionFailedError:
            return False
        return True

    def usage_of_tenant(self, tenant: TenantId, month: str) -> UsageOf:
        """Return what a tenant used in a month."""
        return usage_in(self._table.get(month_key(tenant, month)) or {})

    def usage_of_user(self, tenant: TenantId, user: UserId, month: str) -> UsageOf:
        """Return what a user used in a month."""
        return usage_in(self._table.get(user_key(tenant, user, month)) or {})

    def usage_of_users(self, tenant: TenantId, month: str) -> Mapping[UserId, UsageOf]:
        """Return the same for each user of a tenant; "" is the index of documents."""
        prefix = user_prefix(month)
        return {
            UserId(str(item["sk"]).removeprefix(prefix)): usage_in(item)
            for item in self._table.items(pk_of(tenant), prefix=prefix)
        }


class _TooSmallError(Exception):
    """A limit is smaller than what one call may take."""

    def __init__(self, name: str) -> None:
        self.name = name


def _room(name: str, amount: int, limit: int | None) -> ConditionBase | None:
    """Return the condition under which `amount` may be added; nothing needs no room."""
    if limit is None or not amount:
        return None
    if amount > limit:
        raise _TooSmallError(name)
    return Attr(name).not_exists() | Attr(name).lte(limit - amount)


def _held(reservation: Reservation) -> str:
    return f"held:{reservation.day}"


def _user_key(reservation: Reservation) -> Key:
    return user_key(reservation.tenant, reservation.user, reservation.month)
