"""Calls are reserved, settled and told of; a budget holds whatever happens in between."""

import os
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.domain.errors import BudgetExceededError, UnavailableError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.spending_limits import RESERVATION_SECONDS
from archivolt.domain.usage import (
    Account,
    Balance,
    Budgets,
    BudgetWarning,
    ModelPrice,
    Reservation,
    Tokens,
    TokensUsed,
    micros_to_dollars,
    next_month,
)
from archivolt.governance.metering import Meter, opaque_user
from tests.builders import ACME, ALICE
from tests.fakes.clock import START, FrozenClock
from tests.fakes.ledger import InMemoryLedger, RecordedUsage

# More by the environment, to look for longer.
EXAMPLES = int(os.environ.get("BUDGET_EXAMPLES", "60"))  # noqa: TID251  not the product's
WORST = Tokens(input=100, output=50)
ACCOUNT = Account(
    tenant=ACME,
    user=ALICE,
    provider="openai",
    model="gpt-4o",
    price=ModelPrice(input=Decimal(1), output=Decimal(2)),
    conversation="c-1",
)
MONTH = f"{START:%Y-%m}"


@dataclass
class Metering:
    """A meter over fakes."""

    ledger: InMemoryLedger = field(default_factory=InMemoryLedger)
    events: RecordedUsage = field(default_factory=RecordedUsage)
    clock: FrozenClock = field(default_factory=FrozenClock)

    @property
    def meter(self) -> Meter:
        return Meter(lambda: self.ledger, lambda: self.events, self.clock)

    def call(self, account: Account, used: Tokens = WORST) -> BudgetWarning | None:
        """Make one call that uses so much."""
        reservation = self.meter.reserve(account, WORST, sent=True)
        return self.meter.settle(account, reservation, used, tool_calls=2)


def within(monthly_micros: int | None = None, daily_tokens: int | None = None) -> Account:
    budgets = Budgets(monthly_micros=monthly_micros, daily_tokens=daily_tokens)
    return replace(ACCOUNT, budgets=budgets)


def test_each_call_is_told_of_once_with_what_it_used_and_nobodys_name() -> None:
    metering = Metering()

    metering.call(ACCOUNT, Tokens(input=30, output=10))

    assert metering.events.used == [
        TokensUsed(
            tenant=ACME,
            user=opaque_user(ACME, ALICE),
            conversation="c-1",
            provider="openai",
            model="gpt-4o",
            tokens=Tokens(input=30, output=10),
            tool_calls=2,
            micros=50,
            at=START,
        )
    ]
    assert ALICE not in metering.events.used[0].user


@pytest.mark.parametrize(("settled", "momentary"), [(False, True), (True, False)])
def test_a_budget_that_others_hold_for_a_moment_is_told_as_such(
    settled: bool, momentary: bool
) -> None:
    metering, account = Metering(), within(monthly_micros=399)
    reservation = metering.meter.reserve(account, WORST, sent=True)
    if settled:
        metering.meter.settle(account, reservation, WORST)

    with pytest.raises(BudgetExceededError) as refused:
        metering.meter.reserve(account, WORST, sent=True)

    assert refused.value.momentary is momentary


def test_a_call_beyond_the_budget_is_told_what_is_left_and_when_it_renews() -> None:
    metering, account = Metering(), within(monthly_micros=399)
    metering.call(account, WORST)

    with pytest.raises(BudgetExceededError) as refused:
        metering.meter.reserve(account, WORST, sent=True)

    assert refused.value.code == "budget_exceeded"
    assert refused.value.details == {
        "budget_usd": "0.000399",
        "remaining_usd": "0.000199",
        "needed_usd": "0.0002",
        "renews_at": next_month(START).isoformat(),
    }


def test_a_users_day_is_told_in_tokens_and_renews_at_midnight() -> None:
    metering, account = Metering(), within(daily_tokens=200)
    metering.call(account, Tokens(input=60, output=0))

    with pytest.raises(BudgetExceededError) as refused:
        metering.meter.reserve(account, WORST, sent=True)

    assert refused.value.code == "daily_tokens_exceeded"
    details = refused.value.details
    assert (details["limit_tokens"], details["remaining_tokens"]) == (200, 140)
    assert details["needed_tokens"] == 150
    metering.clock.advance(days=1)
    assert metering.meter.reserve(account, WORST, sent=True)


def test_a_new_month_has_a_new_budget() -> None:
    metering, account = Metering(), within(monthly_micros=200)
    metering.call(account, WORST)

    metering.clock.advance(seconds=(next_month(START) - START).total_seconds())

    assert metering.meter.reserve(account, WORST, sent=True)


def test_a_tenant_is_warned_at_four_fifths_and_the_outside_is_told_once() -> None:
    metering, account = Metering(), within(monthly_micros=1_000)

    warnings = [metering.call(account, Tokens(input=100, output=0)) for _ in range(9)]

    assert [warning is not None for warning in warnings] == [False] * 7 + [True] * 2
    assert [each.spent for each in metering.events.warnings] == [800]


def test_a_lost_call_that_never_left_is_given_back_once_it_expires() -> None:
    metering, account = Metering(), within(monthly_micros=200)
    metering.meter.reserve(account, WORST, sent=False)
    with pytest.raises(BudgetExceededError):
        metering.meter.reserve(account, WORST, sent=False)

    metering.clock.advance(seconds=RESERVATION_SECONDS, microseconds=1)

    assert metering.meter.reserve(account, WORST, sent=False)
    assert metering.events.used == []


def test_a_lost_call_that_had_left_is_charged_in_full_and_told_of() -> None:
    metering, account = Metering(), within(monthly_micros=200)
    metering.meter.reserve(account, WORST, sent=True)
    metering.clock.advance(seconds=RESERVATION_SECONDS, microseconds=1)

    with pytest.raises(BudgetExceededError):
        metering.meter.reserve(account, WORST, sent=True)

    assert metering.ledger.balance(ACME, MONTH) == Balance(spent=200)
    assert [(each.tokens, each.micros) for each in metering.events.used] == [(WORST, 200)]


def test_a_call_that_ends_after_it_was_charged_in_full_is_not_charged_again() -> None:
    metering = Metering()
    reservation = metering.meter.reserve(ACCOUNT, WORST, sent=True)
    metering.clock.advance(seconds=RESERVATION_SECONDS + 1)
    metering.meter.sweep(ACME)

    metering.meter.settle(ACCOUNT, reservation, Tokens(input=1, output=1))

    assert metering.ledger.balance(ACME, MONTH) == Balance(spent=200)
    assert len(metering.events.used) == 1


def test_a_call_whose_reservation_expired_does_not_leave() -> None:
    metering = Metering()
    reservation = metering.meter.reserve(ACCOUNT, WORST, sent=False)
    metering.clock.advance(seconds=RESERVATION_SECONDS)

    assert metering.meter.mark_sent(reservation) is None


class Failing(InMemoryLedger):
    """A ledger that nobody reaches once a call has left."""

    def settle(self, reservation: Reservation, used: Tokens, micros: int) -> bool:
        raise UnavailableError("unavailable")

    def give_back(self, reservation: Reservation) -> bool:
        raise RuntimeError("no such table")


class Deaf(RecordedUsage):
    """A bus that nobody reaches."""

    def tokens_used(self, used: TokensUsed) -> None:
        raise RuntimeError("no such bus")


def test_what_cannot_be_settled_or_told_fails_no_call() -> None:
    deaf = Metering(events=Deaf())
    deaf.call(ACCOUNT)
    failing = Metering(ledger=Failing())

    assert failing.call(ACCOUNT) is None
    lost = failing.meter.reserve(ACCOUNT, WORST, sent=False)
    failing.meter.give_back(lost)

    assert deaf.ledger.balance(ACME, MONTH) == Balance(spent=200)
    assert failing.ledger.balance(ACME, MONTH) == Balance(reserved=400)


class Blind(InMemoryLedger):
    """A ledger that charges, and whose balances nobody can read."""

    def balance(self, tenant: TenantId, month: str) -> Balance:
        raise UnavailableError("unavailable")


def test_a_call_that_is_charged_is_told_of_though_no_balance_can_be_read() -> None:
    blind = Metering(ledger=Blind())

    assert blind.call(within(monthly_micros=200)) is None

    assert blind.ledger.held == {}
    assert [each.micros for each in blind.events.used] == [200]


def test_what_is_lost_to_the_index_is_nobodys() -> None:
    assert opaque_user(ACME, UserId("")) == ""


@given(
    budget=st.integers(0, 2_000),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["settle", "lose unsent", "lose sent", "give back", "wait"]),
            st.integers(0, 100),
            st.integers(0, 50),
        ),
        max_size=25,
    ),
)
@settings(max_examples=EXAMPLES, deadline=None)
def test_whatever_is_called_lost_or_awaited_the_budget_holds_and_nothing_stays_lost(
    budget: int, steps: list[tuple[str, int, int]]
) -> None:
    metering, account = Metering(), within(monthly_micros=budget)
    months = {MONTH}
    for what, some, more in steps:
        months.add(f"{metering.clock.now():%Y-%m}")
        if what == "wait":
            metering.clock.advance(hours=some)
            continue
        try:
            reservation = metering.meter.reserve(account, WORST, sent=what == "lose sent")
        except BudgetExceededError:
            continue
        finally:
            assert all(_committed(metering, month) <= budget for month in months)
        _ended(metering, account, reservation, what, Tokens(input=some, output=more))
        assert all(_committed(metering, month) <= budget for month in months)
    metering.clock.advance(seconds=RESERVATION_SECONDS + 1)
    metering.meter.sweep(ACME)
    assert metering.ledger.held == {}
    assert all(_committed(metering, month) <= budget for month in months)
    told = sum(each.micros for each in metering.events.used)
    assert told == sum(metering.ledger.balance(ACME, month).spent for month in months)


def _ended(
    metering: Metering, account: Account, reservation: Reservation, what: str, used: Tokens
) -> None:
    if what == "settle":
        sent = metering.meter.mark_sent(reservation)
        assert sent is not None
        metering.meter.settle(account, sent, used)
    if what == "give back":
        metering.meter.give_back(reservation)


def _committed(metering: Metering, month: str) -> int:
    balance = metering.ledger.balance(ACME, month)
    return balance.spent + balance.reserved


@pytest.mark.parametrize(
    ("micros", "dollars"),
    [(0, "0.00"), (1, "0.000001"), (1_230_000, "1.23"), (500_000_000, "500.00"), (-50, "-0.00005")],
)
def test_micro_dollars_are_written_exactly(micros: int, dollars: str) -> None:
    assert micros_to_dollars(micros) == dollars
    assert Decimal(dollars) * 1_000_000 == micros


def test_a_cost_is_rounded_up_to_the_micro_dollar() -> None:
    price = ModelPrice(input=Decimal("0.10"), output=Decimal("0.30"))

    assert price.micros(Tokens(input=1, output=0)) == 1
    assert price.micros(Tokens(input=10, output=0)) == 1
    assert price.micros(Tokens(input=11, output=0)) == 2
