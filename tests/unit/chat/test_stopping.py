"""A person stops an answer: from anywhere, at any moment, and never the next one."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from archivolt.adapters.text_actions.model import ModelWithoutTools
from archivolt.agent.state import LoopLimits
from archivolt.chat.archive import as_markdown
from archivolt.chat.requests import TurnRequest
from archivolt.chat.running import RunningTurn
from archivolt.domain.abandonment import current_abandonment
from archivolt.domain.conversation import Author, Conversation, ConversationId
from archivolt.domain.errors import ConflictError, NotFoundError, UnavailableError
from archivolt.domain.federation import McpResult, McpTool
from archivolt.domain.identity import Principal, Role, TenantId
from archivolt.domain.limits import STOP_LOOK_SECONDS, STOP_PATIENCE_SECONDS
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.stream import (
    ConfirmationRequired,
    ContentDelta,
    Failure,
    MessageEnd,
    Notice,
    StreamEvent,
    ToolUseResult,
    ToolUseStart,
)
from archivolt.domain.tool import Surface
from archivolt.domain.usage import Balance
from archivolt.governance.request_size import estimated_tokens
from archivolt.ports.chat_model import (
    ChatModel,
    ModelEvent,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    TextDelta,
)
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.chat_world import ChatWorld, events_of
from tests.fakes.clock import START
from tests.fakes.conversations import InMemoryConversations
from tests.fakes.federation import ScriptedServer
from tests.fakes.models import ScriptedModel, Wait, calling

ResultT = TypeVar("ResultT")
BOSS = principal(BOB, role=Role.TENANT_ADMIN)
STRANGERS = [principal(BOB), principal(ALICE, tenant=GLOBEX), BOSS]


def run(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    async def within() -> ResultT:
        async with asyncio.timeout(20):
            return await coroutine

    return asyncio.run(within())


class Talk(ChatWorld):
    """A world where a turn looks for a wish to stop all the time."""

    def __init__(
        self, model: ChatModel | None = None, store: InMemoryConversations | None = None
    ) -> None:
        super().__init__(model, conversations=store)
        self.notes = self.vault("notes")

    async def pause(self, seconds: float) -> None:
        assert 0 < seconds <= STOP_LOOK_SECONDS
        await asyncio.sleep(0)

    def give(self, seconds: float) -> None:
        """Give the turns from now on so long."""
        self._limits = LoopLimits(seconds=seconds)
        self.send_message = self._send_message()

    def has(self, path: str) -> bool:
        try:
            self.store.head(self.notes, VaultPath(path))
        except NotFoundError:
            return False
        return True


def stop(world: ChatWorld, turn: RunningTurn, by: Principal | None = None) -> bool:
    return world.conversation_service.stop(by or principal(ALICE), turn.plan.conversation.id)


async def stopped(world: ChatWorld, turn: RunningTurn) -> list[StreamEvent]:
    """Stop a turn and return the events it had."""
    assert stop(world, turn)
    return await events_of(turn)


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ContentDelta))


def next_one(world: ChatWorld, text: str = "Go on.") -> TurnRequest:
    return TurnRequest(text=text, conversation_id=world.only_conversation().id)


class Held:
    """Something of the product that does not come to its end before the test lets it."""

    def __init__(self, owner: object, name: str) -> None:
        self.ended = False
        self._entered = threading.Event()
        self._release = threading.Event()
        done: Callable[..., Any] = getattr(owner, name)

        def slow(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
            self._entered.set()
            assert self._release.wait(20)
            found = done(*arguments, **named)
            self.ended = True
            return found

        setattr(owner, name, slow)

    async def entered(self) -> None:
        await asyncio.to_thread(self._entered.wait, 20)

    def release(self) -> None:
        self._release.set()


@pytest.mark.parametrize(("said", "kept"), [("", ""), ("The key is", "The key is")])
def test_an_answer_is_stopped_before_its_first_word_and_amid_its_words(
    said: str, kept: str
) -> None:
    wait = Wait(says=said)
    model = ScriptedModel(wait, ModelTurn(text="And so on."))
    world = Talk(model)

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Where is the key?")
        await wait.started.wait()
        return await stopped(world, turn)

    events = run(talk())

    assert text_of(events) == kept
    [notice] = [event for event in events if isinstance(event, Notice)]
    assert (notice.code, notice.message) == ("turn_stopped", "The answer was stopped.")
    end = events[-1]
    assert isinstance(end, MessageEnd)
    assert end.payload()["stopped"] is True
    conversation = world.only_conversation()
    answer = conversation.messages[-1]
    assert (answer.author, answer.text, answer.stopped) == (Author.ASSISTANT, kept, True)
    assert (conversation.busy_until, conversation.stop_asked_at) == (None, None)
    assert "*Arrêtée.*" in as_markdown(conversation, Language.FR)

    run(world.turn(next_one(world)))

    shown = [message for message in model.requests[-1].messages if message.role != "system"]
    assert [message.role for message in shown] == ["user", "assistant", "user"]
    assert shown[1].text == f"{kept}\n\n[answer: stopped by the person]".strip()
    assert world.only_conversation().messages[-1].stopped is False


def test_what_was_used_is_charged_and_the_rest_is_given_back() -> None:
    wait = Wait(says="A long beginning.")
    world = Talk(ScriptedModel(wait))
    world.allow(chat_monthly_budget_usd="1")

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Where is the key?")
        await wait.started.wait()
        return await stopped(world, turn)

    end = run(talk())[-1]

    assert isinstance(end, MessageEnd)
    assert end.input_tokens > 0 < end.output_tokens
    spent = end.input_tokens + 2 * end.output_tokens  # what the model of the tests costs
    assert world.ledger.balance(ACME, f"{START:%Y-%m}") == Balance(spent=spent)
    answer = world.only_conversation().messages[-1]
    assert (answer.input_tokens, answer.output_tokens) == (end.input_tokens, end.output_tokens)


def test_what_a_model_thought_and_wrote_for_tools_is_charged_too() -> None:
    class Thinking(ScriptedModel):
        async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            yield TextDelta(text="", unseen=4_000)
            async for event in super().create_message(request):
                yield event

    wait = Wait(says="")
    world = Talk(Thinking(wait))

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Think")
        await wait.started.wait()
        return await stopped(world, turn)

    events = run(talk())

    assert text_of(events) == ""
    end = events[-1]
    assert isinstance(end, MessageEnd)
    assert end.output_tokens == estimated_tokens(4_000)


def test_the_providers_stream_is_closed() -> None:
    class Provider(ScriptedModel):
        closed = False

        async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            try:
                async for event in super().create_message(request):
                    yield event
            finally:
                self.closed = True

    wait = Wait()
    model = Provider(wait)
    world = Talk(model)

    async def talk() -> bool:
        turn = await world.start("Hello")
        await wait.started.wait()
        await stopped(world, turn)
        return model.closed

    assert run(talk())


class Patient(Talk):
    """A world where whoever waits for the end of a turn looks again when it is there."""

    ended: RunningTurn | None = None

    async def pause(self, seconds: float) -> None:
        await super().pause(seconds)
        if self.ended is not None and seconds < STOP_LOOK_SECONDS:
            await self.ended.wait()


def test_what_is_said_at_once_instead_waits_for_the_end() -> None:
    wait = Wait(says="Half")
    world = Patient(ScriptedModel(wait, ModelTurn(text="Better.")))

    async def talk() -> list[StreamEvent]:
        turn = world.ended = await world.start("Hello")
        await wait.started.wait()
        assert stop(world, turn)
        return await world.turn(next_one(world, "Say it otherwise."))

    assert text_of(run(talk())) == "Better."
    said = [message.text for message in world.only_conversation().messages]
    assert said == ["Hello", "Half", "Say it otherwise.", "Better."]


def test_nobody_has_to_listen() -> None:
    wait = Wait(says="Half")
    world = Talk(ScriptedModel(wait))

    async def talk() -> None:
        turn = await world.start("Hello")
        await wait.started.wait()
        assert stop(world, turn)
        await turn.wait()

    run(talk())

    assert [m.text for m in world.only_conversation().messages] == ["Hello", "Half"]


@pytest.mark.parametrize("embedded", [True, False])
def test_a_tool_that_reads_is_left_behind(embedded: bool) -> None:
    model = ScriptedModel(calling("list_vaults", "I look."), ModelTurn(text="never"))
    world = Talk(None if embedded else model)
    held = Held(world.vaults, "summaries")

    async def talk() -> list[StreamEvent]:
        turn = await world.start("List my vaults")
        await held.entered()
        try:
            return await stopped(world, turn)
        finally:
            assert not held.ended
            held.release()

    events = run(talk())

    [start] = [event for event in events if isinstance(event, ToolUseStart)]
    [result] = [event for event in events if isinstance(event, ToolUseResult)]
    assert (result.tool_id, result.status) == (start.tool_id, "error")
    assert result.summary.endswith("broken off")
    answer = world.only_conversation().messages[-1]
    assert [(call.tool_name, call.status) for call in answer.tool_calls] == [
        ("list_vaults", "error")
    ]
    assert answer.stopped
    assert answer.text == ("" if embedded else "I look.")


def creating(*names: str) -> tuple[ModelToolCall, ...]:
    return tuple(
        ModelToolCall(
            id=f"call-{name}",
            name="create_file",
            arguments=f'{{"vault": "notes", "path": "{name}.md", "content": "about {name}"}}',
        )
        for name in names
    )


@pytest.mark.parametrize("confirmed", [False, True])
def test_a_call_to_a_server_of_others_is_called_off_unless_a_person_confirmed_it(
    confirmed: bool,
) -> None:
    tool = McpTool(name="slow", read_only=not confirmed, open_world=False)
    entered, over, heard = threading.Event(), threading.Event(), threading.Event()

    def slow(*_: object) -> McpResult:
        with current_abandonment().ending(heard.set):
            entered.set()
            assert over.wait(20)
        return McpResult(text="it is done")

    world = Talk(ScriptedModel(calling("mcp_ours_slow"), ModelTurn(text="never")))
    world.use_server("ours", ScriptedServer([tool], {"slow": slow}))

    async def talk() -> bool:
        turn = await world.start("Call it")
        if confirmed:
            [asked] = [e for e in await events_of(turn) if isinstance(e, ConfirmationRequired)]
            agreed = replace(next_one(world, ""), confirm=(asked.confirmation_token,))
            turn = await world.start(agreed)
        await asyncio.to_thread(entered.wait, 20)
        assert stop(world, turn)
        if confirmed:
            while running("Stop.watch"):  # noqa: ASYNC110  until the turn has heard
                await asyncio.sleep(0)
        else:
            await asyncio.to_thread(heard.wait, 20)
        over.set()
        await turn.wait()
        return heard.is_set()

    assert run(talk()) is not confirmed


def running(name: str) -> int:
    """Return how many tasks run a function: some of them tell nobody that they are done."""
    return sum(f"{name}()" in repr(task) for task in asyncio.all_tasks())


def test_a_change_proposed_beside_a_slow_tool_is_declined() -> None:
    calls = (*creating("new"), ModelToolCall(id="slow", name="list_vaults", arguments="{}"))
    model = ScriptedModel(
        ModelTurn(text="I write.", tool_calls=calls, finish_reason="tool_calls"),
        ModelTurn(text="I see."),
    )
    world = Talk(model)
    held = Held(world.vaults, "summaries")

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Write")
        await held.entered()
        while running("TurnLoop._run_tool") > 1:  # noqa: ASYNC110  until there is a proposal
            await asyncio.sleep(0)
        try:
            return await stopped(world, turn)
        finally:
            held.release()

    events = run(talk())

    assert not any(isinstance(event, ConfirmationRequired) for event in events)
    told = {e.tool_id: e.status for e in events if isinstance(e, ToolUseResult)}
    assert told == {"call-new": "declined", "slow": "error"}
    answer = world.only_conversation().messages[-1]
    assert {call.tool_id: call.status for call in answer.tool_calls} == told
    assert not world.has("new.md")
    run(world.turn(next_one(world)))
    said = model.requests[-1].messages[-2].text
    assert said == "I write.\n\n[create_file: declined]\n\n[answer: stopped by the person]"


def confirming(world: ChatWorld, events: list[StreamEvent], *names: str) -> TurnRequest:
    asked = [event for event in events if isinstance(event, ConfirmationRequired)]
    tokens = {each.tool_id: each.confirmation_token for each in asked}
    agreed = tuple(tokens[f"call-{name}"] for name in names)
    return replace(next_one(world, ""), confirm=agreed)


def test_a_confirmed_change_is_made_whole_and_nothing_after_it() -> None:
    calls = creating("first", "second", "third")
    proposing = ModelTurn(text="I write.", tool_calls=calls, finish_reason="tool_calls")
    model = ScriptedModel(proposing, ModelTurn(text="never"))
    world = Talk(model)
    asked = run(world.turn("Write three"))
    spent = world.ledger.balance(ACME, f"{START:%Y-%m}")
    held = Held(world.store, "create")

    async def talk() -> list[StreamEvent]:
        turn = await world.start(confirming(world, asked, "first", "second"))
        await held.entered()
        assert stop(world, turn)
        while running("Stop.watch"):  # noqa: ASYNC110  until the turn has heard
            await asyncio.sleep(0)
        held.release()
        return await events_of(turn)

    events = run(talk())

    told = [(e.tool_id, e.status) for e in events if isinstance(e, ToolUseResult)]
    assert told == [
        ("call-first", "success"),
        ("call-second", "declined"),
        ("call-third", "declined"),
    ]
    made = [name for name in ("first", "second", "third") if world.has(f"{name}.md")]
    assert made == ["first"]
    conversation = world.only_conversation()
    assert conversation.messages[-1].stopped
    assert conversation.waiting is None
    assert len(model.requests) == 1
    assert world.ledger.balance(ACME, f"{START:%Y-%m}") == spent
    with pytest.raises(ConflictError, match="confirmation_not_waiting"):
        run(world.turn(confirming(world, asked, "third")))
    third = next(e for e in asked if isinstance(e, ConfirmationRequired) and "third" in e.tool_id)
    with pytest.raises(ConflictError, match="confirmation_declined"):
        world.pipeline.apply(
            principal(ALICE),
            "create_file",
            third.confirmation_token,
            surface=Surface.IN_APP,
            language=Language.EN,
        )


@pytest.mark.parametrize("stops", [False, True])
def test_what_waits_goes_on_waiting_where_a_confirmed_change_took_too_long(stops: bool) -> None:
    proposing = ModelTurn(
        text="I write.", tool_calls=creating("first", "second"), finish_reason="tool_calls"
    )
    world = Talk(ScriptedModel(proposing, ModelTurn(text="Done.")))
    asked = run(world.turn("Write two"))
    held = Held(world.store, "create")

    async def talk() -> list[StreamEvent]:
        world.give(seconds=0.3 if stops else 0.05)
        turn = await world.start(confirming(world, asked, "first"))
        await held.entered()
        if stops:
            assert stop(world, turn)
        await turn.wait()
        world.give(seconds=60)
        held.release()
        return await events_of(turn)

    [failure] = [event for event in run(talk()) if isinstance(event, Failure)]
    assert failure.code == "loop_too_long"

    run(world.turn(confirming(world, asked, "second")))
    assert world.has("second.md")


def test_what_waits_for_a_persons_word_goes_on_waiting() -> None:
    proposing = ModelTurn(tool_calls=creating("new"), text="", finish_reason="tool_calls")
    world = Talk(ScriptedModel(proposing, ModelTurn(text="Done.")))
    asked = run(world.turn("Write"))

    assert not world.conversation_service.stop(principal(ALICE), world.only_conversation().id)

    assert text_of(run(world.turn(confirming(world, asked, "new")))) == "Done."
    assert world.has("new.md")


def test_to_ask_twice_is_fine_and_after_the_end_nothing_is_left_to_stop() -> None:
    wait = Wait()
    world = ChatWorld(ScriptedModel(wait))

    async def talk() -> tuple[bool, bool, bool]:
        turn = await world.start("Hello")
        await wait.started.wait()
        first = stop(world, turn)
        asked_at = world.only_conversation().stop_asked_at
        world.clock.advance(seconds=1)
        second = stop(world, turn)
        assert world.only_conversation().stop_asked_at == asked_at
        wait.go_on.set()
        await turn.wait()
        await asyncio.sleep(0)
        assert not running("Stop.watch")
        return first, second, stop(world, turn)

    assert run(talk()) == (True, True, False)
    assert world.only_conversation().messages[-1].stopped is False


@pytest.mark.parametrize("stranger", STRANGERS)
def test_nobody_else_stops_an_answer(stranger: Principal) -> None:
    wait = Wait(says="The whole.")
    world = Talk(ScriptedModel(wait))

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Hello")
        await wait.started.wait()
        with pytest.raises(NotFoundError, match="conversation_not_found"):
            stop(world, turn, stranger)
        wait.go_on.set()
        return await events_of(turn)

    assert text_of(run(talk())) == "The whole."
    assert not world.only_conversation().messages[-1].stopped


class LateReader(InMemoryConversations):
    """Conversations whose heads are read a turn too early."""

    early: Conversation | None = None

    def head(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        return self.early or super().head(tenant, conversation_id)


def test_a_late_wish_does_not_stop_the_next_answer() -> None:
    first, second = Wait(says="One."), Wait(says="Two.")
    store = LateReader()
    world = Talk(ScriptedModel(first, second), store)

    async def talk() -> bool:
        turn = await world.start("First")
        await first.started.wait()
        seen = store.head(ACME, turn.plan.conversation.id)
        first.go_on.set()
        await turn.wait()
        following = await world.start(next_one(world, "Second"))
        await second.started.wait()
        store.early = seen
        asked = stop(world, following)
        store.early = None
        second.go_on.set()
        await following.wait()
        return asked

    assert run(talk()) is False
    assert [m.stopped for m in world.only_conversation().messages] == [False] * 4


def test_what_a_model_without_tools_was_writing_for_us_is_never_shown() -> None:
    wait = Wait(says='I write it.\n```obsigate-action\n{"action": "create_fi')
    world = Talk(ModelWithoutTools(ScriptedModel(wait)))

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Write about keys")
        await wait.started.wait()
        return await stopped(world, turn)

    events = run(talk())

    assert text_of(events).strip() == "I write it."
    assert not any(isinstance(event, ConfirmationRequired) for event in events)
    assert world.only_conversation().messages[-1].text == text_of(events)


def test_a_conversation_that_is_deleted_ends_its_answer() -> None:
    wait = Wait()
    world = Talk(ScriptedModel(wait))

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Hello")
        await wait.started.wait()
        world.conversations.delete(turn.plan.conversation)
        return await events_of(turn)

    [failure] = [event for event in run(talk()) if isinstance(event, Failure)]
    assert failure.code == "conversation_not_found"


def test_an_answer_whose_conversation_another_one_took_up_ends() -> None:
    wait = Wait()
    world = Talk(ScriptedModel(wait))

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Hello")
        await wait.started.wait()
        later = world.clock.now() + timedelta(hours=1)
        world.conversations.append(turn.plan.conversation, [], busy_until=later)
        return await events_of(turn)

    [failure] = [event for event in run(talk()) if isinstance(event, Failure)]
    assert failure.code == "conflict"


class Unreadable(InMemoryConversations):
    """Conversations that cannot be looked at for a while."""

    failures = 0
    error: Exception = UnavailableError("unavailable")

    def head(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        if self.failures:
            self.failures -= 1
            raise self.error
        return super().head(tenant, conversation_id)


@pytest.mark.parametrize("error", [UnavailableError("unavailable"), OSError("no line")])
def test_a_look_that_fails_is_repeated(error: Exception) -> None:
    wait = Wait()
    store = Unreadable()
    store.error = error
    world = Talk(ScriptedModel(wait), store)

    async def talk() -> list[StreamEvent]:
        turn = await world.start("Hello")
        await wait.started.wait()
        assert stop(world, turn)
        store.failures = 3
        return await events_of(turn)

    assert [event.event for event in run(talk())][-2:] == ["notice", "message_end"]
    assert world.crashes == []


def test_a_conversation_whose_answer_heeds_nothing_is_free_after_a_while() -> None:
    world = Talk(ScriptedModel(ModelTurn(text="Alive.")))
    run(world.turn("One"))
    kept = world.only_conversation()
    held_until = world.clock.now() + timedelta(seconds=270)
    world.conversations.append(kept, [], busy_until=held_until)

    assert world.conversation_service.stop(principal(ALICE), kept.id)
    world.clock.advance(seconds=STOP_PATIENCE_SECONDS - 1)
    with pytest.raises(ConflictError, match="conversation_busy"):
        run(world.turn(next_one(world)))
    world.clock.advance(seconds=1)

    assert text_of(run(world.turn(next_one(world)))) == "Alive."
