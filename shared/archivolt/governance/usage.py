"""What was used, as people see it: their own, their team's, their tenant's (S17, S34)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.rights import may_reach_others
from archivolt.domain.usage import Budgets, UsageOf, day_of, month_of, next_day, next_month
from archivolt.governance.metering import Meter
from archivolt.governance.tenants import reached
from archivolt.ports.clock import Clock
from archivolt.ports.governance import TenantSettingsStore
from archivolt.ports.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What may be used, what is left of it now, and when it renews; None: without end."""

    limit: int | None
    left: int | None
    renews_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """What was used in a month.

    `by_user` is None for who may not see whose it was. `budget` is the tenant's in micro-dollars,
    `daily` the caller's own tokens of today; both None for a month that is not this one.
    """

    period: str
    usage: UsageOf
    users: int
    by_user: Mapping[UserId, UsageOf] | None = None
    budget: Allowance | None = None
    daily: Allowance | None = None


class UsageReports:
    """Tells usage.

    Args:
        ledger: Keeps it; called when somebody asks.
        settings: The tenants' budgets.
        meter: Ends what is over first.
        clock: The time.

    """

    def __init__(
        self,
        ledger: Callable[[], Ledger],
        settings: TenantSettingsStore,
        meter: Meter,
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._settings = settings
        self._meter = meter
        self._clock = clock

    def own(self, principal: Principal, *, period: str = "") -> UsageReport:
        """Return what the caller used in a month, this one unless it is named."""
        period = period or month_of(self._clock.now())
        self._meter.sweep(principal.tenant)
        usage = self._ledger().usage_of_user(principal.tenant, principal.user, period)
        budgets = self._budgets(principal.tenant, period)
        return UsageReport(
            period=period,
            usage=usage,
            users=1,
            by_user={principal.user: usage},
            budget=budgets and self._month(principal.tenant, budgets),
            daily=budgets and self._day(principal, budgets),
        )

    def of_tenant(self, principal: Principal, *, period: str = "", tenant: str = "") -> UsageReport:
        """Return what a tenant used in a month: the caller's, unless another is named.

        Raises:
            NotFoundError: `tenant_not_found`: not the caller's, who has not all.

        """
        period = period or month_of(self._clock.now())
        asked = reached(principal, tenant or principal.tenant)
        self._meter.sweep(asked)
        users = self._ledger().usage_of_users(asked, period)
        counted = {user: usage for user, usage in users.items() if usage.total.calls}
        budgets = self._budgets(asked, period)
        return UsageReport(
            period=period,
            usage=self._ledger().usage_of_tenant(asked, period),
            users=sum(bool(user) for user in counted),
            by_user=counted if may_reach_others(principal, "tenant_usage") else None,
            budget=budgets and self._month(asked, budgets),
        )

    def _budgets(self, tenant: TenantId, period: str) -> Budgets | None:
        """Return what is allowed now; what was in another month, nobody keeps."""
        if period != month_of(self._clock.now()):
            return None
        return self._settings.load(tenant).budgets

    def _month(self, tenant: TenantId, budgets: Budgets) -> Allowance:
        now = self._clock.now()
        limit = budgets.monthly_micros
        left = None
        if limit is not None:
            balance = self._ledger().balance(tenant, month_of(now))
            left = max(0, limit - balance.spent - balance.reserved)
        return Allowance(limit=limit, left=left, renews_at=next_month(now))

    def _day(self, principal: Principal, budgets: Budgets) -> Allowance:
        now = self._clock.now()
        limit = budgets.daily_tokens
        left = None
        if limit is not None:
            used = self._ledger().tokens_of_day(principal.tenant, principal.user, day_of(now))
            left = max(0, limit - used)
        return Allowance(limit=limit, left=left, renews_at=next_day(now))
