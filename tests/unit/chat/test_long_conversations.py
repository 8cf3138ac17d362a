"""Conversations that are longer than the model's window."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from archivolt.agent.window import tokens_of
from archivolt.chat.requests import TurnRequest
from archivolt.domain.conversation import Author, ConversationId
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MIN_CONTEXT_TOKENS
from archivolt.domain.settings import TenantSettings
from archivolt.domain.stream import ContentDelta, Failure, MessageEnd
from archivolt.domain.untrusted import unwrap_data
from archivolt.ports.chat_model import ModelEvent, ModelRequest, ModelTurn
from tests.builders import ACME, a_conversation, a_message
from tests.chat_world import ChatWorld
from tests.fakes.models import ScriptedModel, calling

SMALL = TenantSettings(
    chat_base_url="http://model.test/v1",
    chat_model="gpt-4",
    chat_model_prices={"gpt-4": {"input": "30", "output": "60"}},
)


def long_talk(model: ScriptedModel) -> ChatWorld:
    """A world whose one conversation has some 60,000 characters, before a model of 8,000 tokens."""
    world = ChatWorld(model)
    world.settings.save(ACME, SMALL)
    conversation = a_conversation("long")
    world.conversations.create(conversation)
    for number in range(1, 31):
        author = Author.USER if number % 2 else Author.ASSISTANT
        said = a_message(number, f"{number} " + "word " * 400, author=author)
        conversation = world.conversations.append(conversation, [said])
    return world


def test_what_was_said_earlier_is_summed_up_by_the_model_and_the_question_stands() -> None:
    summary = ModelTurn(text="They said many words.", input_tokens=7, output_tokens=3)
    answer = ModelTurn(text="Yes.", input_tokens=5, output_tokens=1)
    model = ScriptedModel(summary, answer)
    world = long_talk(model)

    request = TurnRequest(text="And now?", conversation_id=ConversationId("long"))
    events = asyncio.run(world.turn(request))

    asked, answered = model.requests
    assert (asked.tools, asked.max_tokens) == ((), 1_000)
    assert len(asked.messages[1].text) < 8_000 * 3
    [system, word] = answered.messages
    assert system.role == "system"
    [(_, value)] = unwrap_data(word.text)
    assert value == {"summary": "They said many words."}
    assert word.text.endswith("And now?")
    assert "".join(e.text for e in events if isinstance(e, ContentDelta)) == "Yes."
    assert events[-1] == MessageEnd(input_tokens=12, output_tokens=4, tool_calls=0)
    assert len(world.only_conversation().messages) == 32


class SmallModel(ScriptedModel):
    """Takes questions of so many tokens, and tells its window where that is not 0."""

    def __init__(self, *script: ModelTurn, takes: int, window: int) -> None:
        super().__init__(*script)
        self._takes = takes
        self._window = window
        self.refused = 0

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if tokens_of(request.messages) > self._takes:
            self.refused += 1
            raise InvalidRequestError(
                "provider_refused", provider="p", reason="too long", window=self._window
            )
        async for event in super().create_message(request):
            yield event


READS = [calling("read_file", vault="notes", path=f"{name}.md") for name in "abc"]


def reading(model: ScriptedModel) -> ChatWorld:
    world = ChatWorld(model)
    notes = world.vault("notes")
    for name in "abc":
        world.write(notes, f"{name}.md", f"{name} " + "word " * 1_400)
    return world


@pytest.mark.parametrize("window", [15_000, 0])
def test_a_model_of_a_smaller_window_than_we_knew_is_shown_less(window: int) -> None:
    model = SmallModel(*READS, ModelTurn(text="Done."), takes=MIN_CONTEXT_TOKENS, window=window)

    events = asyncio.run(reading(model).turn("Read all."))

    assert "".join(e.text for e in events if isinstance(e, ContentDelta)) == "Done."
    results = [each.text for each in model.requests[-1].messages if each.role == "tool"]
    assert ["left_out" in each for each in results] == [True, True, False]
    assert model.refused == 1


def test_a_model_that_takes_nothing_is_not_asked_for_ever() -> None:
    model = SmallModel(*READS, ModelTurn(text="Done."), takes=5, window=4_000)

    events = asyncio.run(reading(model).turn("Read all."))

    assert [event.code for event in events if isinstance(event, Failure)] == ["provider_refused"]
    assert model.refused == 1
