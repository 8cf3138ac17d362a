"""Every call to a provider is reserved before it leaves, settled after, and told of (S14 to S16).

A reservation is of the worst case and holds against the tenant's month and the user's day at once.
Whoever loses one (a process that died) loses it for a while only: it is given back if its call
never left, else charged in full (decision 23). What is told is told once; that it cannot be told,
or settled at once, never fails the call.
"""

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from archivolt.domain.errors import BudgetExceededError, UnavailableError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.spending_limits import (
    BUDGET_WARNING_PERCENT,
    MAX_SWEPT,
    RESERVATION_SECONDS,
)
from archivolt.domain.usage import (
    Account,
    BudgetWarning,
    Reservation,
    Tokens,
    TokensUsed,
    micros_to_dollars,
    next_day,
    next_month,
)
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.ledger import Ledger, Limit, UsageEvents

_OPAQUE_CHARS: Final = 32


class Meter:
    """Meters the calls of every account.

    Args:
        ledger: Keeps reservations and usage; it is called when a call has to be metered.
        events: Tells the outside; called likewise.
        clock: The time.
        require: Checks that an account's work is to be done, as `Admission.require_account`.

    """

    def __init__(
        self,
        ledger: Callable[[], Ledger],
        events: Callable[[], UsageEvents],
        clock: Clock,
        require: Callable[[TenantId, UserId], None] = lambda tenant, user: None,  # noqa: ARG005  all is
    ) -> None:
        self._ledger = ledger
        self._events = events
        self._clock = clock
        self._require = require

    def reserve(self, account: Account, worst: Tokens, *, sent: bool) -> Reservation:
        """Set the worst case of a call aside; `sent`: the call leaves at once.

        Raises:
            ForbiddenError: `tenant_suspended`, `tenant_deleting`, `user_suspended`.
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.
            UnavailableError: `unavailable`.

        """
        self._require(account.tenant, account.user)
        now = self._clock.now()
        reservation = Reservation(
            id=uuid.uuid4().hex,
            tenant=account.tenant,
            user=account.user,
            conversation=account.conversation,
            provider=account.provider,
            model=account.model,
            worst=worst,
            micros=account.price.micros(worst),
            made_at=now,
            expires_at=now + timedelta(seconds=RESERVATION_SECONDS),
            sent=sent,
        )
        limit = self._ledger().reserve(reservation, account.budgets)
        if limit is not None and self.sweep(account.tenant):
            limit = self._ledger().reserve(reservation, account.budgets)
        if limit is not None:
            raise self._exceeded(limit, account, reservation)
        return reservation

    def mark_sent(self, reservation: Reservation) -> Reservation | None:
        """Note that the call leaves, before it does; None: the reservation has ended meanwhile."""
        if self._clock.now() >= reservation.expires_at:
            return None
        if not self._ledger().mark_sent(reservation):
            return None
        return replace(reservation, sent=True)

    def give_back(self, reservation: Reservation) -> None:
        """End a reservation whose call used nothing; one that cannot be ended expires."""
        try:
            self._ledger().give_back(reservation)
        except Exception as error:  # noqa: BLE001  a turn ends, whatever its ledger does
            logger.warning("a reservation is left to expire", extra=failure(error))

    def settle(
        self, account: Account, reservation: Reservation, used: Tokens, *, tool_calls: int = 0
    ) -> BudgetWarning | None:
        """Charge what a call used, tell of it, and return a warning where little is left."""
        micros = account.price.micros(used)
        try:
            if not self._ledger().settle(reservation, used, micros):
                # It took longer than a reservation lives, and was charged in full.
                return None
        except UnavailableError as error:
            logger.warning("a call is left to be charged in full", extra=failure(error))
            return None
        self._tell(reservation, used, micros, tool_calls)
        try:
            return self._warning(account, reservation)
        except UnavailableError as error:
            logger.warning("nobody is warned of a budget", extra=failure(error))
            return None

    def sweep(self, tenant: TenantId) -> int:
        """End what nobody ended in time, and return how many reservations that were."""
        ended = 0
        for lost in self._ledger().expired(tenant, self._clock.now(), limit=MAX_SWEPT):
            if not lost.sent:
                ended += self._ledger().give_back(lost)
            elif self._ledger().settle(lost, lost.worst, lost.micros):
                ended += 1
                self._tell(lost, lost.worst, lost.micros, 0)
        return ended

    def _warning(self, account: Account, reservation: Reservation) -> BudgetWarning | None:
        budget = account.budgets.monthly_micros
        if not budget or not reservation.micros:
            return None
        balance = self._ledger().balance(account.tenant, reservation.month)
        if balance.spent * 100 < budget * BUDGET_WARNING_PERCENT:
            return None
        warning = BudgetWarning(
            tenant=account.tenant,
            month=reservation.month,
            spent=balance.spent,
            budget=budget,
            at=self._clock.now(),
        )
        if not balance.warned and self._ledger().note_warning(account.tenant, reservation.month):
            self._told(lambda: self._events().budget_warning(warning))
        return warning

    def _tell(self, of: Reservation, used: Tokens, micros: int, tool_calls: int) -> None:
        event = TokensUsed(
            tenant=of.tenant,
            user=opaque_user(of.tenant, of.user),
            conversation=of.conversation,
            provider=of.provider,
            model=of.model,
            tokens=used,
            tool_calls=tool_calls,
            micros=micros,
            at=self._clock.now(),
        )
        self._told(lambda: self._events().tokens_used(event))

    def _told(self, tell: Callable[[], None]) -> None:
        try:
            tell()
        except Exception as error:  # noqa: BLE001  a call is paid, whoever hears of it
            logger.error("usage could not be told", extra=failure(error))

    def _exceeded(
        self, limit: Limit, account: Account, reservation: Reservation
    ) -> BudgetExceededError:
        now = self._clock.now()
        budgets = account.budgets
        if limit is Limit.DAY:
            used = self._ledger().tokens_of_day(account.tenant, account.user, reservation.day)
            return BudgetExceededError(
                "daily_tokens_exceeded",
                limit_tokens=budgets.daily_tokens or 0,
                remaining_tokens=max(0, (budgets.daily_tokens or 0) - used),
                needed_tokens=reservation.worst.total,
                renews_at=next_day(now).isoformat(),
            )
        balance = self._ledger().balance(account.tenant, reservation.month)
        budget = budgets.monthly_micros or 0
        left = max(0, budget - balance.spent - balance.reserved)
        exceeded = BudgetExceededError(
            "budget_exceeded",
            budget_usd=micros_to_dollars(budget),
            remaining_usd=micros_to_dollars(left),
            needed_usd=micros_to_dollars(reservation.micros),
            renews_at=next_month(now).isoformat(),
        )
        exceeded.momentary = balance.spent + reservation.micros <= budget
        return exceeded


def opaque_user(tenant: TenantId, user: UserId) -> str:
    """Return an id that tells users apart and says nothing of who they are; "" for nobody."""
    if not user:
        return ""
    digest = hashlib.sha256(f"{tenant}/{user}".encode()).hexdigest()
    return f"user_{digest[:_OPAQUE_CHARS]}"
