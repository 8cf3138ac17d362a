"""What was used and what is set aside, so that a budget holds whoever calls at once (S15)."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.usage import (
    Balance,
    Budgets,
    BudgetWarning,
    Reservation,
    Tokens,
    TokensUsed,
    UsageOf,
)


class Limit(StrEnum):
    """A limit that a call does not fit."""

    MONTH = "month"
    DAY = "day"


class Ledger(Protocol):
    """Keeps reservations and usage. Every implementation passes `tests/contract`.

    Every method may raise `UnavailableError`; each is safe to repeat.
    """

    def reserve(self, reservation: Reservation, budgets: Budgets) -> Limit | None:
        """Set the worst case of a call aside in one step, or return the limit it does not fit."""
        ...

    def mark_sent(self, reservation: Reservation) -> bool:
        """Note that the call leaves; False: the reservation is no more, and it must not."""
        ...

    def settle(self, reservation: Reservation, used: Tokens, micros: int) -> bool:
        """Put what a call used in the place of its worst case, and count it.

        False: the reservation had ended, by itself or as another state than `reservation.sent`.
        """
        ...

    def give_back(self, reservation: Reservation) -> bool:
        """End a reservation whose call used nothing; False as with `settle`."""
        ...

    def expired(self, tenant: TenantId, now: datetime, *, limit: int) -> list[Reservation]:
        """Return reservations of a tenant that nobody ended in time, the oldest first."""
        ...

    def balance(self, tenant: TenantId, month: str) -> Balance:
        """Return how a tenant stands in a month."""
        ...

    def tokens_of_day(self, tenant: TenantId, user: UserId, day: str) -> int:
        """Return how many tokens a user used in a day, with those set aside."""
        ...

    def note_warning(self, tenant: TenantId, month: str) -> bool:
        """Note that the tenant was warned in a month; True the first time."""
        ...

    def usage_of_tenant(self, tenant: TenantId, month: str) -> UsageOf:
        """Return what a tenant used in a month."""
        ...

    def usage_of_user(self, tenant: TenantId, user: UserId, month: str) -> UsageOf:
        """Return what a user used in a month."""
        ...

    def usage_of_users(self, tenant: TenantId, month: str) -> Mapping[UserId, UsageOf]:
        """Return the same for each user of a tenant; "" is the index of documents."""
        ...


class UsageEvents(Protocol):
    """Tells the outside what is used (S14)."""

    def tokens_used(self, used: TokensUsed) -> None:
        """Tell of one call.

        Raises:
            UnavailableError: It could not be told.

        """
        ...

    def budget_warning(self, warning: BudgetWarning) -> None:
        """Tell that a budget is nearly used up.

        Raises:
            UnavailableError: It could not be told.

        """
        ...
