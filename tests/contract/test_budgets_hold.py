"""A budget holds on the real store, whoever asks at once and whatever dies in between (S15)."""

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor

import pytest

from archivolt.adapters.dynamodb.ledger import DynamoLedger
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.domain.errors import ArchivoltError, BudgetExceededError, UnavailableError
from archivolt.domain.spending_limits import RESERVATION_SECONDS
from archivolt.domain.usage import Balance, Budgets, Reservation, Tokens
from archivolt.governance.request_size import worst_case
from archivolt.ports.chat_model import ModelEvent, ModelRequest, ModelTurn
from archivolt.ports.ledger import Limit
from tests.builders import ACME, principal
from tests.chat_world import ChatWorld
from tests.contract.conftest import NewTable
from tests.fakes.clock import START

MONTH = f"{START:%Y-%m}"
TURNS, SERVED = 100, 10
SAYS = "Where is it?"


class Greedy:
    """A model that uses all it may, and gives other turns the time to come."""

    def __init__(self) -> None:
        self.asked = 0

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked += 1
        await asyncio.sleep(0)
        worst = worst_case(request)
        yield ModelTurn(text="Under the mat.", input_tokens=worst.input, output_tokens=worst.output)


class Dying(DynamoLedger):
    """A ledger that the first processes to reserve do not live to come back to."""

    def __init__(self, table: DynamoTable, deaths: int) -> None:
        super().__init__(table)
        self._deaths = deaths
        self._dead: set[str] = set()

    def reserve(self, reservation: Reservation, budgets: Budgets) -> Limit | None:
        refused = super().reserve(reservation, budgets)
        if refused is None and len(self._dead) < self._deaths:
            self._dead.add(reservation.id)
        return refused

    def settle(self, reservation: Reservation, used: Tokens, micros: int) -> bool:
        if reservation.id in self._dead:
            raise UnavailableError("unavailable")
        return super().settle(reservation, used, micros)


def worst_of_a_turn() -> int:
    """Return what one turn costs at worst, in micro-dollars."""
    world = ChatWorld(Greedy())
    world.allow(chat_monthly_budget_usd="0")
    with pytest.raises(BudgetExceededError) as refused:
        asyncio.run(world.turn(SAYS, by=principal("u-00")))
    return round(float(str(refused.value.details["needed_usd"])) * 1_000_000)


async def all_at_once(world: ChatWorld) -> list[str]:
    """Return the code of each turn's error, "" for those that were served."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(TURNS))

    async def one(number: int) -> str:
        try:
            turn = await world.start(SAYS, by=principal(f"u-{number:02d}"))
            await turn.wait()
        except ArchivoltError as error:
            return error.code
        return turn.error.code if turn.error else ""

    return await asyncio.gather(*(one(number) for number in range(TURNS)))


@pytest.mark.dynamodb_local
def test_of_a_hundred_turns_a_budget_of_ten_worst_cases_serves_ten(
    new_local_table: NewTable,
) -> None:
    ledger = DynamoLedger(new_local_table("LedgerTable"))
    model, worst = Greedy(), worst_of_a_turn()
    world = ChatWorld(model, books=ledger)
    world.allow(chat_monthly_budget_usd=f"{SERVED * worst / 1_000_000:.6f}")

    outcomes = asyncio.run(all_at_once(world))

    assert outcomes.count("") == model.asked == SERVED
    assert outcomes.count("budget_exceeded") == TURNS - SERVED
    assert ledger.balance(ACME, MONTH) == Balance(spent=SERVED * worst, warned=True)
    told = [each.micros for each in world.usage_events.used]
    assert (len(told), sum(told)) == (SERVED, SERVED * worst)
    assert len(world.usage_events.warnings) == 1


@pytest.mark.dynamodb_local
def test_with_three_processes_lost_between_reserve_and_settle_at_least_seven_are_served(
    new_local_table: NewTable,
) -> None:
    deaths = 3
    table = new_local_table("LedgerTable")
    kept, worst = DynamoLedger(table), worst_of_a_turn()
    world = ChatWorld(Greedy(), books=Dying(table, deaths))
    world.allow(chat_monthly_budget_usd=f"{SERVED * worst / 1_000_000:.6f}")

    outcomes = asyncio.run(all_at_once(world))

    settled = kept.balance(ACME, MONTH).spent // worst
    assert settled >= SERVED - deaths
    assert outcomes.count("budget_exceeded") == TURNS - SERVED
    assert kept.balance(ACME, MONTH) == Balance(
        spent=settled * worst, reserved=deaths * worst, warned=settled * 100 >= SERVED * 80
    )
    world.books = kept
    world.clock.advance(seconds=RESERVATION_SECONDS + 1)
    assert world.meter.sweep(ACME) == deaths
    assert kept.balance(ACME, MONTH).spent == SERVED * worst
    assert kept.balance(ACME, MONTH).reserved == 0
