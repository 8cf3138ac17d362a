"""What calls to providers use and cost, and what a tenant lets them (S14 to S17).

Money is whole micro-dollars, always rounded up: a price of one dollar for a million tokens is one
micro-dollar a token. Months and days are those of UTC.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Final

from archivolt.domain.identity import TenantId, UserId

MICROS: Final = 1_000_000
"""Micro-dollars in a dollar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens that went to a provider, and that came from it."""

    input: int
    output: int

    @property
    def total(self) -> int:
        """Both."""
        return self.input + self.output

    def __add__(self, other: "Tokens") -> "Tokens":
        """Return the sum."""
        return Tokens(input=self.input + other.input, output=self.output + other.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """US dollars for a million tokens."""

    input: Decimal
    output: Decimal

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return what a call costs in dollars, exactly."""
        return (self.input * input_tokens + self.output * output_tokens) / MICROS

    def micros(self, tokens: Tokens) -> int:
        """Return what a call costs in micro-dollars."""
        return dollars_to_micros(self.cost(tokens.input, tokens.output))


FREE: Final = ModelPrice(input=Decimal(0), output=Decimal(0))
"""What a model costs that asks nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What a tenant lets its people use; None: as much as they like.

    `monthly_micros` is the tenant's, for a month; `daily_tokens` is each user's, for a day.
    """

    monthly_micros: int | None = None
    daily_tokens: int | None = None


NO_BUDGETS: Final = Budgets()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """On whose behalf a model is asked, and at what price.

    `user` is "" where documents are indexed: that is done for a tenant. `conversation` is the
    conversation or run that the call is made in, "" for neither.
    """

    tenant: TenantId
    user: UserId
    provider: str
    model: str
    price: ModelPrice
    budgets: Budgets = NO_BUDGETS
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The worst case of one call, set aside until it is known what the call used.

    Once it is `sent`, the call may have been made: if nobody says more of it before `expires_at`,
    it is charged in full; else it is given back (decision 23).
    """

    id: str
    tenant: TenantId
    user: UserId
    conversation: str
    provider: str
    model: str
    worst: Tokens
    micros: int
    made_at: datetime
    expires_at: datetime
    sent: bool = False

    @property
    def month(self) -> str:
        """The month that pays for it."""
        return month_of(self.made_at)

    @property
    def day(self) -> str:
        """The day that it counts for."""
        return day_of(self.made_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How a tenant stands in a month: spent, and set aside for calls that are not over."""

    spent: int = 0
    reserved: int = 0
    warned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was used: calls, their tokens, and micro-dollars."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micros: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum."""
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            micros=self.micros + other.micros,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOfProvider:
    """A model, as usage is told by it."""

    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageOf:
    """What a user, or all of a tenant, used in a month: in all, by model and by day."""

    total: Usage
    by_model: dict[ModelOfProvider, Usage]
    by_day: dict[str, Usage]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensUsed:
    """One call to a provider (S14). Nothing of a person is in it: `user` is an opaque id."""

    tenant: TenantId
    user: str
    conversation: str
    provider: str
    model: str
    tokens: Tokens
    tool_calls: int
    micros: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetWarning:
    """A tenant has used most of its month's budget."""

    tenant: TenantId
    month: str
    spent: int
    budget: int
    at: datetime


def dollars_to_micros(dollars: Decimal) -> int:
    """Return dollars as whole micro-dollars, rounded up."""
    return int((dollars * MICROS).to_integral_value(rounding=ROUND_CEILING))


def micros_to_dollars(micros: int) -> str:
    """Return micro-dollars as dollars in decimal digits: cents at least, no more than needed."""
    sign = "-" if micros < 0 else ""
    whole, part = divmod(abs(micros), MICROS)
    return f"{sign}{whole}.{f'{part:06d}'.rstrip('0').ljust(2, '0')}"


def month_of(moment: datetime) -> str:
    """Return the month of a moment, as `2026-11`."""
    return f"{moment.astimezone(UTC):%Y-%m}"


def day_of(moment: datetime) -> str:
    """Return the day of a moment, as `2026-11-30`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d}"


def next_month(moment: datetime) -> datetime:
    """Return when the next month begins."""
    first = moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)


def next_day(moment: datetime) -> datetime:
    """Return when the next day begins."""
    midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=1)
