"""What was used and is set aside, in dictionaries; and who is told of it."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.usage import (
    Balance,
    Budgets,
    BudgetWarning,
    ModelOfProvider,
    Reservation,
    Tokens,
    TokensUsed,
    Usage,
    UsageOf,
)
from archivolt.governance.metering import Meter
from archivolt.ports.clock import Clock
from archivolt.ports.ledger import Limit
from tests.fakes.clock import FrozenClock


class InMemoryLedger:
    """A `Ledger` under one lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.held: dict[str, Reservation] = {}
        self.charged: list[tuple[Reservation, Tokens, int]] = []
        self._spent: Counter[tuple[TenantId, str]] = Counter()
        self._used: Counter[tuple[TenantId, UserId, str]] = Counter()
        self._warned: set[tuple[TenantId, str]] = set()

    def reserve(self, reservation: Reservation, budgets: Budgets) -> Limit | None:
        with self._lock:
            month = self._balance(reservation.tenant, reservation.month)
            committed = month.spent + month.reserved + reservation.micros
            budget, most = budgets.monthly_micros, budgets.daily_tokens
            if budget is not None and reservation.micros and committed > budget:
                return Limit.MONTH
            used = self._tokens(reservation.tenant, reservation.user, reservation.day)
            if most is not None and used + reservation.worst.total > most:
                return Limit.DAY
            self.held[reservation.id] = reservation
            return None

    def mark_sent(self, reservation: Reservation) -> bool:
        with self._lock:
            if reservation.id in self.held:
                self.held[reservation.id] = replace(reservation, sent=True)
            return reservation.id in self.held

    def settle(self, reservation: Reservation, used: Tokens, micros: int) -> bool:
        with self._lock:
            ended = self._end(reservation)
            if ended:
                self.charged.append((reservation, used, micros))
                self._spent[reservation.tenant, reservation.month] += micros
                whose = (reservation.tenant, reservation.user, reservation.day)
                self._used[whose] += used.total
            return ended

    def give_back(self, reservation: Reservation) -> bool:
        with self._lock:
            return self._end(reservation)

    def _end(self, reservation: Reservation) -> bool:
        held = self.held.get(reservation.id)
        if held is None or held.sent != reservation.sent:
            return False
        del self.held[reservation.id]
        return True

    def expired(self, tenant: TenantId, now: datetime, *, limit: int) -> list[Reservation]:
        lost = [r for r in self.held.values() if r.tenant == tenant and r.expires_at < now]
        return sorted(lost, key=lambda each: each.expires_at)[:limit]

    def balance(self, tenant: TenantId, month: str) -> Balance:
        with self._lock:
            return self._balance(tenant, month)

    def _balance(self, tenant: TenantId, month: str) -> Balance:
        held = [r for r in self.held.values() if (r.tenant, r.month) == (tenant, month)]
        return Balance(
            spent=self._spent[tenant, month],
            reserved=sum(each.micros for each in held),
            warned=(tenant, month) in self._warned,
        )

    def tokens_of_day(self, tenant: TenantId, user: UserId, day: str) -> int:
        with self._lock:
            return self._tokens(tenant, user, day)

    def _tokens(self, tenant: TenantId, user: UserId, day: str) -> int:
        whose = (tenant, user, day)
        held = [r.worst.total for r in self.held.values() if (r.tenant, r.user, r.day) == whose]
        return sum(held) + self._used[whose]

    def note_warning(self, tenant: TenantId, month: str) -> bool:
        with self._lock:
            first = (tenant, month) not in self._warned
            self._warned.add((tenant, month))
            return first

    def usage_of_tenant(self, tenant: TenantId, month: str) -> UsageOf:
        return self._usage([c for c in self.charged if _is_of(c[0], tenant, month)])

    def usage_of_user(self, tenant: TenantId, user: UserId, month: str) -> UsageOf:
        theirs = [c for c in self.charged if _is_of(c[0], tenant, month) and c[0].user == user]
        return self._usage(theirs)

    def usage_of_users(self, tenant: TenantId, month: str) -> Mapping[UserId, UsageOf]:
        both = [*self.held.values(), *(reservation for reservation, _, _ in self.charged)]
        users = sorted({each.user for each in both if _is_of(each, tenant, month)})
        return {user: self.usage_of_user(tenant, user, month) for user in users}

    def _usage(self, charged: list[tuple[Reservation, Tokens, int]]) -> UsageOf:
        by_model: dict[ModelOfProvider, Usage] = {}
        by_day: dict[str, Usage] = {}
        for of, used, micros in charged:
            usage = Usage(
                calls=1, input_tokens=used.input, output_tokens=used.output, micros=micros
            )
            model = ModelOfProvider(provider=of.provider, model=of.model)
            by_model[model] = by_model.get(model, Usage()) + usage
            by_day[of.day] = by_day.get(of.day, Usage()) + usage
        return UsageOf(total=sum(by_day.values(), Usage()), by_model=by_model, by_day=by_day)


class RecordedUsage:
    """`UsageEvents` that a test can read."""

    def __init__(self) -> None:
        self.used: list[TokensUsed] = []
        self.warnings: list[BudgetWarning] = []

    def tokens_used(self, used: TokensUsed) -> None:
        self.used.append(used)

    def budget_warning(self, warning: BudgetWarning) -> None:
        self.warnings.append(warning)


def unbounded_meter(clock: Clock | None = None) -> Meter:
    """Return a meter of whose ledger nobody asks anything."""
    ledger, events = InMemoryLedger(), RecordedUsage()
    return Meter(lambda: ledger, lambda: events, clock or FrozenClock())


def _is_of(reservation: Reservation, tenant: TenantId, month: str) -> bool:
    return (reservation.tenant, reservation.month) == (tenant, month)
