"""What the model is shown of the conversation so far, and how a conversation gets its title.

Only what was said: tool calls and their results belong to the turn they were made in (S25).
"""

from collections.abc import Sequence
from dataclasses import replace

from archivolt.domain.conversation import Author, Message
from archivolt.domain.limits import MAX_HISTORY_CHARS
from archivolt.ports.chat_model import ModelImage, ModelMessage

_TITLE_CHARS = 60
_STATES_OF_CHANGES = frozenset({"proposed", "declined"})
_STOPPED = "[answer: stopped by the person]"


def model_history(messages: Sequence[Message]) -> list[ModelMessage]:
    """Return the latest messages that fit, alternating between the person and the model.

    A question that was never answered (its turn failed) is joined to the one that follows; asked
    again word for word, it counts once. Changes are named with what became of them: they are part
    of what was said, and a model takes a change it only announced for one that was made. So is it
    said of an answer that it was stopped: it may have no word, which providers do not take.
    """
    alternating: list[ModelMessage] = []
    for message in messages:
        role = "user" if message.author is Author.USER else "assistant"
        text = _said(message)
        previous = alternating[-1] if alternating else None
        if previous is None or previous.role != role:
            alternating.append(ModelMessage(role=role, text=text))
        elif previous.text != text:
            joined = f"{previous.text}\n\n{text}"
            alternating[-1] = ModelMessage(role=role, text=joined)
    return _latest(alternating)


def _said(message: Message) -> str:
    if not (message.tool_calls or message.stopped):
        return message.text
    changes = [
        f"[{call.tool_name}: {call.status}]"
        for call in message.tool_calls
        if call.status in _STATES_OF_CHANGES
    ]
    stopped = [_STOPPED] if message.stopped else []
    return "\n\n".join(part for part in (message.text, *changes, *stopped) if part)


def with_images(
    messages: Sequence[ModelMessage], images: tuple[ModelImage, ...]
) -> list[ModelMessage]:
    """Return the messages with images shown beside the last one."""
    *before, last = messages
    return [*before, replace(last, images=images)]


def _latest(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    room = MAX_HISTORY_CHARS
    kept: list[ModelMessage] = []
    for message in reversed(messages):
        room -= len(message.text)
        if kept and room < 0:
            break
        kept.append(message)
    while kept and kept[-1].role != "user":
        kept.pop()
    return kept[::-1]


def title_of(text: str) -> str:
    """Return a title made of the first words of a message, at most 60 characters."""
    words = " ".join(text.split())
    if len(words) <= _TITLE_CHARS:
        return words
    cut = words[:_TITLE_CHARS]
    whole_words = cut.rpartition(" ")[0] or cut
    return f"{whole_words.rstrip(' ,;:.')}…"
