"""One call that asks its provider several times holds the budget each time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from archivolt.adapters.chat_models import provider_format
from archivolt.adapters.models.table import ModelTable
from archivolt.adapters.streaming.model import MAX_PAUSED_TURNS, StreamedChatModel
from archivolt.domain.errors import BudgetExceededError, UnavailableError
from archivolt.domain.providers import WireFormat
from archivolt.domain.usage import Account, Balance, Budgets, Tokens
from archivolt.governance.metered_models import MeteredModel
from archivolt.governance.request_size import estimated_prompt, worst_case
from archivolt.ports.chat_model import (
    ModelMessage,
    ModelRequest,
    ModelTurn,
    ProviderConnection,
)
from tests.builders import ACME
from tests.fakes.provider_streams import anthropic_stream, anthropic_text
from tests.unit.governance.test_metering import ACCOUNT, MONTH, Metering

CALL: dict[str, Any] = {"type": "server_tool_use", "id": "srv", "name": "web", "input": {}}
ASKED = ModelRequest(
    messages=[ModelMessage(role="user", text="Where is it?")], model="claude", max_tokens=50
)
Answer = Callable[[httpx2.Request], httpx2.Response]


def says(stop: str) -> Answer:
    stream = anthropic_stream(anthropic_text("Hm. "), (CALL, []), stop=stop)
    return lambda _: httpx2.Response(
        200, headers={"content-type": "text/event-stream"}, content=stream
    )


def refuses(status: int) -> Answer:
    return lambda _: httpx2.Response(status, json={"error": {"message": "no"}})


def breaks(error: type[httpx2.TransportError]) -> Answer:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise error("broken", request=request)

    return answer


@dataclass
class Asking:
    """A metered model over a provider that answers by a script; it notes what was held then."""

    script: list[Answer]
    budget: int = 10**9
    metering: Metering = field(default_factory=Metering)
    held: list[Balance] = field(default_factory=list[Balance])
    said: str = ""

    @property
    def account(self) -> Account:
        budgets = Budgets(monthly_micros=self.budget)
        price = replace(ACCOUNT.price, input=Decimal(1), output=Decimal(1))
        return replace(ACCOUNT, budgets=budgets, price=price)

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.held.append(self.balance)
        return self.script.pop(0)(request)

    @property
    def balance(self) -> Balance:
        return self.metering.ledger.balance(ACME, MONTH)

    def ask(self) -> ModelTurn:
        async def run() -> ModelTurn:
            async with httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer)) as client:
                metered = MeteredModel(self._model(client), self.account, self.metering.meter)
                async for event in metered.create_message(ASKED):
                    if isinstance(event, ModelTurn):
                        return event
                    self.said += event.text
            raise AssertionError("a model ends with its turn")

        return asyncio.run(run())

    def _model(self, client: httpx2.AsyncClient) -> StreamedChatModel:
        spoken = WireFormat.ANTHROPIC
        connection = ProviderConnection(provider="anthropic", key="", wire_format=spoken)

        async def no_pause(_: float) -> None:
            """Wait for nothing."""

        return StreamedChatModel(
            client, provider_format(spoken), connection, ModelTable(), pause=no_pause
        )


def test_each_part_of_a_paused_turn_is_reserved_before_it_is_asked_for_and_settled() -> None:
    asking = Asking([*[says("pause_turn")] * MAX_PAUSED_TURNS, says("end_turn")])

    turn = asking.ask()

    parts = 1 + MAX_PAUSED_TURNS
    # Ten tokens a part, as the provider says; each part's own worst case is held meanwhile.
    assert [each.spent for each in asking.held] == [10 * n for n in range(parts)]
    held = [each.reserved for each in asking.held]
    assert held[0] == worst_case(ASKED).total
    assert held == sorted(set(held)), "each sends back what came so far"
    assert (turn.input_tokens, turn.output_tokens) == (7 * parts, 3 * parts)
    assert asking.balance == Balance(spent=10 * parts)
    assert [each.tokens for each in asking.metering.events.used] == [
        Tokens(input=7, output=3)
    ] * parts


def test_a_paused_turn_goes_on_no_further_than_its_budget() -> None:
    endless = Asking([says("pause_turn")] * 9)
    with pytest.raises(UnavailableError):
        endless.ask()
    most = max(each.spent + each.reserved for each in endless.held[:3])
    asking = Asking([says("pause_turn")] * 9, budget=most)

    with pytest.raises(BudgetExceededError):
        asking.ask()

    assert len(asking.held) == 3
    assert asking.said == "Hm. " * 3
    assert asking.balance == Balance(spent=30)


@pytest.mark.parametrize(
    ("first", "charged"),
    [
        (breaks(httpx2.ReadError), True),
        (breaks(httpx2.RemoteProtocolError), True),
        (breaks(httpx2.WriteError), True),
        (breaks(httpx2.ConnectError), False),
        (breaks(httpx2.ConnectTimeout), False),
        (breaks(httpx2.PoolTimeout), False),
        (refuses(503), False),
        (refuses(429), False),
    ],
)
def test_a_request_that_is_repeated_costs_again_unless_it_was_refused_or_reached_nobody(
    first: Answer, *, charged: bool
) -> None:
    asking = Asking([first, says("end_turn")])
    lost = estimated_prompt(ASKED) if charged else 0

    turn = asking.ask()

    worst = worst_case(ASKED).total
    assert asking.held == [Balance(reserved=worst), Balance(spent=lost, reserved=worst)]
    assert asking.balance == Balance(spent=lost + 10)
    assert turn.input_tokens + turn.output_tokens == lost + 10


def test_a_request_that_broke_is_not_repeated_beyond_the_budget() -> None:
    asking = Asking([breaks(httpx2.ReadError)] * 3, budget=worst_case(ASKED).total)

    with pytest.raises(BudgetExceededError):
        asking.ask()

    assert len(asking.held) == 1
    assert asking.balance == Balance(spent=estimated_prompt(ASKED))


def test_what_goes_on_without_a_word_about_tokens_is_estimated_part_by_part() -> None:
    def silent(stop: str) -> Answer:
        stream = says(stop)

        def answer(request: httpx2.Request) -> httpx2.Response:
            content = stream(request).content.replace(b"_tokens", b"_unknown")
            return httpx2.Response(
                200, headers={"content-type": "text/event-stream"}, content=content
            )

        return answer

    asking = Asking([silent("pause_turn"), silent("end_turn")])

    turn = asking.ask()

    assert asking.balance.spent == turn.input_tokens + turn.output_tokens
    assert turn.input_tokens > 2 * estimated_prompt(ASKED)
    # Eight bytes of text, three a token, rounded up where the first four end.
    assert [each.tokens.output for each in asking.metering.events.used] == [2, 1]
