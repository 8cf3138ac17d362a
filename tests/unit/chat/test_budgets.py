"""What a turn does about budgets: it is admitted first, and stops where the money does."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

import pytest

from archivolt.agent.state import LoopLimits
from archivolt.chat.requests import TurnRequest
from archivolt.chat.running import RunningTurn
from archivolt.domain.conversation import Author
from archivolt.domain.errors import (
    ArchivoltError,
    BudgetExceededError,
    ConflictError,
    InvalidRequestError,
    UnavailableError,
)
from archivolt.domain.messages import Language
from archivolt.domain.stream import MessageEnd, Notice, StreamEvent
from archivolt.domain.usage import Balance, Usage
from archivolt.ports.chat_model import ModelEvent, ModelRequest, ModelTurn, TextDelta
from tests.builders import ACME, ALICE
from tests.chat_world import ChatWorld, events_of
from tests.fakes.clock import START
from tests.fakes.models import ScriptedModel, Wait, calling, counted

MONTH = f"{START:%Y-%m}"
ANSWER = ModelTurn(text="Under the mat.", input_tokens=1_000, output_tokens=100)
KindT = TypeVar("KindT", bound=StreamEvent)


def of_kind(events: list[StreamEvent], kind: type[KindT]) -> list[KindT]:
    return [event for event in events if isinstance(event, kind)]


def worst_case(world: ChatWorld) -> int:
    """Return what the first message costs at worst, in micro-dollars."""
    world.allow(chat_monthly_budget_usd="0")
    with pytest.raises(BudgetExceededError) as refused:
        asyncio.run(world.turn("Where is it?"))
    return round(float(str(refused.value.details["needed_usd"])) * 1_000_000)


def dollars(micros: int) -> str:
    return f"{micros / 1_000_000:.6f}"


def test_a_message_beyond_the_budget_is_refused_before_anything_is_kept_or_sent() -> None:
    model = ScriptedModel(ANSWER)
    world = ChatWorld(model)
    world.allow(chat_monthly_budget_usd="0.000001")

    with pytest.raises(BudgetExceededError) as refused:
        asyncio.run(world.turn("Where is it?"))

    assert refused.value.message(Language.FR) == "Budget mensuel de tokens dépassé"
    assert model.requests == []
    assert world.conversations.of_user(ACME, ALICE, limit=9)[0] == []
    assert world.ledger.balance(ACME, MONTH) == Balance()


def test_a_conversation_goes_on_where_it_was_once_there_is_a_budget() -> None:
    world = ChatWorld(ScriptedModel(ANSWER))
    asyncio.run(world.turn("Where is it?"))
    kept = world.only_conversation()
    again = TurnRequest(text="And now?", conversation_id=kept.id)
    world.allow(chat_monthly_budget_usd="0.000001")
    with pytest.raises(BudgetExceededError):
        asyncio.run(world.turn(again))
    assert world.only_conversation() == kept

    world.allow(chat_monthly_budget_usd="")
    asyncio.run(world.turn(again))

    said = [message.text for message in world.only_conversation().messages]
    assert said == ["Where is it?", "Under the mat.", "And now?", "Under the mat."]


def test_what_waits_for_a_person_still_waits_after_a_refusal() -> None:
    world = ChatWorld(ScriptedModel(calling("delete_file", vault="notes", path="key.md"), ANSWER))
    world.write(world.vault("notes"), "key.md", "The key.")
    turn = asyncio.run(_ended(world, "Delete it."))
    [waiting] = turn.confirmations
    agreed = TurnRequest(
        text="",
        conversation_id=turn.plan.conversation.id,
        confirm=(waiting.confirmation_token,),
    )
    world.allow(chat_monthly_budget_usd="0.000001")
    with pytest.raises(BudgetExceededError):
        asyncio.run(world.turn(agreed))

    world.allow(chat_monthly_budget_usd="")
    events = asyncio.run(world.turn(agreed))

    assert of_kind(events, MessageEnd)[0].tool_calls == 1


async def _ended(world: ChatWorld, said: str) -> RunningTurn:
    turn = await world.start(said)
    await events_of(turn)
    return turn


def test_what_was_used_is_what_the_end_of_the_turn_says() -> None:
    world = ChatWorld(
        ScriptedModel(counted(calling("list_vaults"), 700, 30), ANSWER),
    )

    events = asyncio.run(world.turn("Where is it?"))

    [end] = of_kind(events, MessageEnd)
    used = world.ledger.usage_of_user(ACME, ALICE, MONTH).total
    assert (end.input_tokens, end.output_tokens) == (1_700, 130)
    assert used == Usage(calls=2, input_tokens=1_700, output_tokens=130, micros=1_960)
    conversation = world.only_conversation().id
    assert [(e.conversation, e.tool_calls) for e in world.usage_events.used] == [
        (conversation, 1),
        (conversation, 0),
    ]
    assert world.ledger.held == {}


def test_a_budget_that_ends_within_a_turn_stops_it_and_keeps_what_is_written() -> None:
    world = ChatWorld(
        ScriptedModel(counted(calling("list_vaults", text="I look."), 900, 10), ANSWER)
    )
    world.allow(chat_monthly_budget_usd=dollars(worst_case(world) + 50))

    events = asyncio.run(world.turn("Where is it?", language=Language.FR))

    notice = of_kind(events, Notice)[-1]
    assert (notice.code, notice.message) == (
        "budget_exceeded",
        "Budget mensuel de tokens dépassé",
    )
    assert isinstance(events[-1], MessageEnd)
    question, answer = world.only_conversation().messages
    assert (question.text, answer.author, answer.text) == (
        "Where is it?",
        Author.ASSISTANT,
        "I look.",
    )


def test_a_turn_that_brought_no_text_before_the_budget_ended_fails_with_the_budgets_error() -> None:
    world = ChatWorld(ScriptedModel(counted(calling("list_vaults"), 900, 10), ANSWER))
    world.allow(chat_monthly_budget_usd=dollars(worst_case(world) + 50))

    turn = asyncio.run(_ended(world, "Where is it?"))

    assert turn.error is not None
    assert turn.error.code == "budget_exceeded"
    assert [message.text for message in world.only_conversation().messages] == ["Where is it?"]


def test_a_turn_that_leaves_little_of_the_budget_says_so_and_the_outside_hears_it_once() -> None:
    yes = ModelTurn(text="Yes.")
    world = ChatWorld(ScriptedModel(counted(yes, 159_000, 500), counted(yes, 100, 1)))
    world.allow(chat_monthly_budget_usd="0.20")

    told = [asyncio.run(world.turn("Where is it?", language=Language.FR)) for _ in range(2)]

    [[first], [second]] = [of_kind(events, Notice) for events in told]
    assert (first.code, second.code) == ("budget_low", "budget_low")
    assert first.message == ("80 % du budget du mois est consommé : 0.16 sur 0.20 dollars.")
    [warning] = world.usage_events.warnings
    assert (warning.month, warning.spent, warning.budget) == (MONTH, 160_000, 200_000)


def test_a_users_day_ends_before_the_tenants_month() -> None:
    world = ChatWorld(ScriptedModel(ANSWER))
    world.allow(chat_daily_tokens_per_user=100)

    with pytest.raises(BudgetExceededError, match="daily_tokens_exceeded"):
        asyncio.run(world.turn("Where is it?"))


def test_a_model_without_a_price_is_refused_and_says_what_to_do() -> None:
    world = ChatWorld(ScriptedModel(ANSWER))
    world.allow(chat_model="of-my-own")

    with pytest.raises(InvalidRequestError, match=r"model_price_unknown.*chat_model_prices"):
        asyncio.run(world.turn("Where is it?"))

    world.allow(chat_model_prices={"of-my-own": {"input": "0", "output": "0"}})
    world.allow(chat_monthly_budget_usd="0")
    events = asyncio.run(world.turn("Where is it?"))
    assert of_kind(events, MessageEnd)[0].output_tokens == 100
    assert world.ledger.usage_of_tenant(ACME, MONTH).total.micros == 0


def test_a_turn_that_finds_its_conversation_taken_gives_back_what_it_set_aside() -> None:
    async def taken() -> ChatWorld:
        wait = Wait()
        world = ChatWorld(ScriptedModel(wait))
        first = await world.start("Where is it?")
        await wait.started.wait()
        held = dict(world.ledger.held)
        same = TurnRequest(text="And?", conversation_id=first.plan.conversation.id)
        with pytest.raises(ConflictError):
            await world.start(same)
        assert world.ledger.held == held
        wait.go_on.set()
        await events_of(first)
        return world

    assert asyncio.run(taken()).ledger.held == {}


class Breaking:
    """A model that breaks off after some text."""

    def __init__(self, error: ArchivoltError, text: str = "") -> None:
        self._error = error
        self._text = text

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if self._text:
            yield TextDelta(text=self._text)
        raise self._error


@pytest.mark.parametrize(
    ("error", "text", "charged"),
    [
        (InvalidRequestError("provider_key_refused", provider="p"), "", False),
        (UnavailableError("provider_busy", provider="p", reason="later"), "", False),
        (
            UnavailableError("provider_unavailable", provider="p", reason="HTTP 502"),
            "",
            False,
        ),
        (
            UnavailableError("provider_unavailable", provider="p", reason="provider_unreachable"),
            "",
            False,
        ),
        (
            UnavailableError("provider_unavailable", provider="p", reason="provider_silent"),
            "",
            True,
        ),
        (
            UnavailableError("provider_unavailable", provider="p", reason="provider_connection"),
            "Under the mat, or",
            True,
        ),
    ],
)
def test_a_call_that_breaks_off_is_charged_for_what_was_sent_and_what_came(
    error: ArchivoltError, text: str, charged: bool
) -> None:
    world = ChatWorld(Breaking(error, text))

    events = asyncio.run(world.turn("Where is it?"))

    used = world.ledger.usage_of_tenant(ACME, MONTH).total
    [end] = of_kind(events, MessageEnd)
    assert (end.input_tokens, end.output_tokens) == (used.input_tokens, used.output_tokens)
    assert used.calls == int(charged)
    assert (used.input_tokens > 1_000) is charged
    assert used.output_tokens == (6 if text else 0)
    assert world.ledger.held == {}


def test_a_provider_that_tells_no_usage_is_charged_by_an_estimate() -> None:
    world = ChatWorld(ScriptedModel(ModelTurn(text="Under the mat.")))

    events = asyncio.run(world.turn("Where is it?"))

    used = world.ledger.usage_of_tenant(ACME, MONTH).total
    [end] = of_kind(events, MessageEnd)
    assert (end.input_tokens, end.output_tokens) == (used.input_tokens, used.output_tokens)
    assert used.input_tokens > 1_000
    assert used.output_tokens == 5


def test_the_embedded_provider_costs_nothing_and_needs_no_budget() -> None:
    world = ChatWorld()
    world.allow(chat_monthly_budget_usd="0", chat_daily_tokens_per_user=0)

    events = asyncio.run(world.turn("Hello"))

    assert isinstance(events[-1], MessageEnd)
    assert world.ledger.usage_of_tenant(ACME, MONTH).total == Usage()


def test_a_turn_that_is_cancelled_midway_is_charged_for_what_came() -> None:
    async def cancelled() -> ChatWorld:
        wait = Wait(says="Under the mat")
        world = ChatWorld(ScriptedModel(wait))
        turn = await world.start("Where is it?")
        await wait.started.wait()
        await world.send_message.drain(0)
        await turn.wait()
        return world

    world = asyncio.run(cancelled())

    used = world.ledger.usage_of_tenant(ACME, MONTH).total
    assert (used.calls, used.output_tokens) == (1, 5)
    assert world.ledger.held == {}


def test_what_a_stopped_turn_used_is_kept_with_its_answer() -> None:
    world = ChatWorld(ScriptedModel(Wait(says="and on")), LoopLimits(seconds=0.05))

    [end] = of_kind(asyncio.run(world.turn("Go")), MessageEnd)

    kept = world.only_conversation().messages[-1]
    assert kept.text == "and on"
    assert (kept.input_tokens, kept.output_tokens) == (end.input_tokens, end.output_tokens)
    assert kept.input_tokens > 1_000
