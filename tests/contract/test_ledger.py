"""What every ledger promises."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Barrier

import pytest

from archivolt.adapters.dynamodb.ledger import DynamoLedger
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.usage import (
    Balance,
    Budgets,
    ModelOfProvider,
    ModelPrice,
    Reservation,
    Tokens,
    Usage,
)
from archivolt.ports.ledger import Ledger, Limit
from tests.builders import ACME, ALICE, BOB, GLOBEX
from tests.contract.conftest import FAKE, NewTable
from tests.fakes.clock import START
from tests.fakes.ledger import InMemoryLedger

PRICE = ModelPrice(input=Decimal(1), output=Decimal(2))
MONTH, DAY = f"{START:%Y-%m}", f"{START:%Y-%m-%d}"
TOGETHER = 100


@pytest.fixture
def ledger(store: str, request: pytest.FixtureRequest) -> Ledger:
    if store == FAKE:
        return InMemoryLedger()
    return DynamoLedger(request.getfixturevalue("new_table")("LedgerTable"))


def a_reservation(
    number: int = 1,
    *,
    tenant: TenantId = ACME,
    user: UserId = ALICE,
    worst: Tokens = Tokens(input=100, output=50),  # noqa: B008  it is frozen
    made_at: datetime = START,
    sent: bool = True,
) -> Reservation:
    """One call that costs 200 micro-dollars at worst."""
    return Reservation(
        id=f"r{number}",
        tenant=tenant,
        user=user,
        conversation="c-1",
        provider="openai",
        model="gpt-4o",
        worst=worst,
        micros=PRICE.micros(worst),
        made_at=made_at,
        expires_at=made_at + timedelta(minutes=6),
        sent=sent,
    )


def test_what_is_set_aside_counts_against_the_budget_of_its_month(ledger: Ledger) -> None:
    budgets = Budgets(monthly_micros=500)

    assert [ledger.reserve(a_reservation(n), budgets) for n in (1, 2, 3)] == [
        None,
        None,
        Limit.MONTH,
    ]
    assert ledger.reserve(a_reservation(4, tenant=GLOBEX), budgets) is None
    next_month = a_reservation(5, made_at=START + timedelta(days=31))
    assert ledger.reserve(next_month, budgets) is None
    assert ledger.balance(ACME, MONTH) == Balance(reserved=400)


def test_a_budget_is_used_to_its_last_micro_dollar(ledger: Ledger) -> None:
    assert ledger.reserve(a_reservation(1), Budgets(monthly_micros=200)) is None
    assert ledger.reserve(a_reservation(2), Budgets(monthly_micros=399)) is Limit.MONTH
    assert ledger.reserve(a_reservation(2), Budgets(monthly_micros=400)) is None


def test_a_call_that_is_larger_than_the_whole_budget_never_fits(ledger: Ledger) -> None:
    assert ledger.reserve(a_reservation(), Budgets(monthly_micros=199)) is Limit.MONTH
    assert ledger.reserve(a_reservation(), Budgets(daily_tokens=149)) is Limit.DAY
    assert ledger.balance(ACME, MONTH) == Balance()


def test_what_costs_nothing_needs_no_budget(ledger: Ledger) -> None:
    free = replace(a_reservation(), micros=0)

    assert ledger.reserve(free, Budgets(monthly_micros=0)) is None


def test_each_user_has_their_own_tokens_of_a_day(ledger: Ledger) -> None:
    budgets = Budgets(daily_tokens=299)

    assert ledger.reserve(a_reservation(1), budgets) is None
    assert ledger.reserve(a_reservation(2), budgets) is Limit.DAY
    assert ledger.reserve(a_reservation(3, user=BOB), budgets) is None
    tomorrow = a_reservation(4, made_at=START + timedelta(days=1))
    assert ledger.reserve(tomorrow, budgets) is None
    assert ledger.tokens_of_day(ACME, ALICE, DAY) == 150


def test_what_a_call_used_takes_the_place_of_its_worst_case(ledger: Ledger) -> None:
    reservation = a_reservation()
    ledger.reserve(reservation, Budgets())

    assert ledger.settle(reservation, Tokens(input=30, output=10), 50)

    assert ledger.balance(ACME, MONTH) == Balance(spent=50)
    assert ledger.tokens_of_day(ACME, ALICE, DAY) == 40
    used = ledger.usage_of_user(ACME, ALICE, MONTH)
    expected = Usage(calls=1, input_tokens=30, output_tokens=10, micros=50)
    assert (used.total, used.by_day) == (expected, {DAY: expected})
    assert used.by_model == {ModelOfProvider(provider="openai", model="gpt-4o"): expected}


def test_a_call_is_settled_once(ledger: Ledger) -> None:
    reservation = a_reservation()
    ledger.reserve(reservation, Budgets())

    outcomes = [ledger.settle(reservation, Tokens(input=30, output=10), 50) for _ in range(2)]

    assert outcomes == [True, False]
    assert not ledger.give_back(reservation)
    assert ledger.usage_of_tenant(ACME, MONTH).total.calls == 1


def test_what_is_given_back_is_free_again_and_no_usage(ledger: Ledger) -> None:
    reservation = a_reservation(sent=False)
    ledger.reserve(reservation, Budgets())

    assert ledger.give_back(reservation)

    assert ledger.balance(ACME, MONTH) == Balance()
    assert ledger.tokens_of_day(ACME, ALICE, DAY) == 0
    assert ledger.usage_of_tenant(ACME, MONTH).total == Usage()


def test_a_reservation_that_left_meanwhile_is_not_given_back_as_unsent(ledger: Ledger) -> None:
    reservation = a_reservation(sent=False)
    ledger.reserve(reservation, Budgets())

    assert ledger.mark_sent(reservation)

    assert not ledger.give_back(reservation)
    assert ledger.give_back(replace(reservation, sent=True))
    assert not ledger.mark_sent(reservation)


def test_reservations_that_nobody_ended_are_found_when_they_expire(ledger: Ledger) -> None:
    early, late = a_reservation(1), a_reservation(2, made_at=START + timedelta(minutes=1))
    for reservation in (late, early, a_reservation(3, tenant=GLOBEX)):
        ledger.reserve(reservation, Budgets())

    assert ledger.expired(ACME, early.expires_at, limit=9) == []
    just_after = early.expires_at + timedelta(microseconds=1)
    assert ledger.expired(ACME, just_after, limit=9) == [early]
    much_later = START + timedelta(days=1)
    assert ledger.expired(ACME, much_later, limit=9) == [early, late]
    assert ledger.expired(ACME, much_later, limit=1) == [early]


def test_usage_is_told_by_user_model_and_day(ledger: Ledger) -> None:
    calls = [
        a_reservation(1),
        a_reservation(2, user=BOB),
        replace(a_reservation(3, user=UserId("")), provider="cloudflare", model="@cf/baai/bge-m3"),
        a_reservation(4, made_at=START + timedelta(days=1)),
    ]
    for call in calls:
        ledger.reserve(call, Budgets())
        ledger.settle(call, Tokens(input=10, output=5), 20)

    whole = ledger.usage_of_tenant(ACME, MONTH)
    by_user = ledger.usage_of_users(ACME, MONTH)

    assert whole.total == Usage(calls=4, input_tokens=40, output_tokens=20, micros=80)
    assert [usage.calls for usage in whole.by_day.values()] == [3, 1]
    assert {model.model: usage.calls for model, usage in whole.by_model.items()} == {
        "@cf/baai/bge-m3": 1,
        "gpt-4o": 3,
    }
    assert {user: usage.total.calls for user, usage in by_user.items()} == {
        "": 1,
        ALICE: 2,
        BOB: 1,
    }
    assert ledger.usage_of_tenant(GLOBEX, MONTH).total == Usage()
    assert ledger.usage_of_users(ACME, "2020-01") == {}


def test_a_tenant_is_warned_once_a_month(ledger: Ledger) -> None:
    assert [ledger.note_warning(ACME, MONTH) for _ in range(2)] == [True, False]
    assert ledger.note_warning(GLOBEX, MONTH)
    assert ledger.note_warning(ACME, "2020-01")
    assert ledger.balance(ACME, MONTH).warned


@pytest.mark.dynamodb_local
def test_of_a_hundred_calls_at_once_a_budget_of_ten_lets_ten_through(
    new_local_table: NewTable,
) -> None:
    ledger = DynamoLedger(new_local_table("LedgerTable"))
    together = Barrier(TOGETHER)

    def call(number: int) -> Limit | None:
        together.wait()
        reservation = a_reservation(number, user=UserId(f"user-{number % 7}"))
        outcome = ledger.reserve(reservation, Budgets(monthly_micros=10 * 200 + 199))
        if outcome is None:
            assert ledger.settle(reservation, reservation.worst, reservation.micros)
        return outcome

    with ThreadPoolExecutor(TOGETHER) as pool:
        outcomes = list(pool.map(call, range(TOGETHER)))

    assert outcomes.count(None) == 10
    assert ledger.balance(ACME, MONTH) == Balance(spent=10 * 200)
    users = ledger.usage_of_users(ACME, MONTH).values()
    assert sum(each.total.micros for each in users) == 10 * 200
