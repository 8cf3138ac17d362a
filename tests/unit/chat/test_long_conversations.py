"""Conversations that are longer than the model's window."""

import asyncio

from archivolt.chat.requests import TurnRequest
from archivolt.domain.conversation import Author, ConversationId
from archivolt.domain.settings import TenantSettings
from archivolt.domain.stream import ContentDelta, MessageEnd
from archivolt.domain.untrusted import unwrap_data
from archivolt.ports.chat_model import ModelTurn
from tests.builders import ACME, a_conversation, a_message
from tests.chat_world import ChatWorld
from tests.fakes.models import ScriptedModel

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
