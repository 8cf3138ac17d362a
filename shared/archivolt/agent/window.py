"""What of a conversation fits into a model's window: the oldest results of tools go first.

So do the long arguments of old calls. Every message keeps its place and its pair: a call is still
followed by a result, one that says it was left out.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

from archivolt.domain.promptings import PROMPTINGS
from archivolt.domain.text_size import utf8_size
from archivolt.domain.untrusted import wrap_data
from archivolt.ports.chat_model import ModelMessage

# What tokenizers make of text: four letters of English, three of French, one of Chinese (three
# bytes). Beside a text, each message has a few tokens of its own.
_BYTES_PER_TOKEN: Final = 3
_AROUND: Final = 8
# What a large image costs, at most of the providers.
_PER_IMAGE: Final = 1_600
_LEFT_OUT: Final = wrap_data(
    "left_out", {"note": "This result was left out to make room. Call the tool again to see it."}
)
# A call that writes a document carries it.
_MUCH: Final = 1_000
_NO_ARGUMENTS: Final = '{"left_out": "These arguments were left out to make room."}'


def tokens_in(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few."""
    return utf8_size(text) // _BYTES_PER_TOKEN + _AROUND


def tokens_of(messages: Sequence[ModelMessage]) -> int:
    """Return about how many tokens messages have, with their calls."""
    # A message knows its size: nothing is measured twice in a turn.
    return sum(
        message.size // _BYTES_PER_TOKEN
        + (2 + len(message.tool_calls)) * _AROUND
        + len(message.images) * _PER_IMAGE
        for message in messages
    )


def without_old_results(
    messages: Sequence[ModelMessage], room: int
) -> tuple[ModelMessage, ...] | None:
    """Return the messages with as many results left out as need be, the oldest first.

    Those the model has not answered to yet stay. None: they do not fit even so.
    """
    newest = range(len(messages) - 1, -1, -1)
    last = next((i for i in newest if messages[i].role == "assistant"), 0)
    return _fitted(messages, range(last), room)


def without_results(messages: Sequence[ModelMessage], room: int) -> tuple[ModelMessage, ...]:
    """Return the messages with as many results left out as need be, new ones as well.

    They may not fit even so: what a person says is not ours to leave out.
    """
    fitted = _fitted(messages, range(len(messages)), room)
    return fitted or tuple(_left_out(message) for message in messages)


def rules_of(messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
    """Return the rules that a conversation begins with: ours, and the method of a turn."""
    return tuple(takewhile(lambda message: message.role == "system", messages))


def earlier_turns(messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
    """Return what was said before the person's last word, but the rules."""
    return tuple(messages[len(rules_of(messages)) : _last_word(messages)])


def with_summary(messages: Sequence[ModelMessage], summary: str) -> tuple[ModelMessage, ...]:
    """Return the messages with a summary in the place of the earlier turns.

    It stands with the person's last word, as data: two messages of one role in a row are not valid
    everywhere, and what it sums up may quote documents.
    """
    at = _last_word(messages)
    word = messages[at]
    text = f"{wrap_data('summary_of_earlier_turns', {'summary': summary})}\n\n{word.text}"
    return (*rules_of(messages), replace(word, text=text), *messages[at + 1 :])


def _last_word(messages: Sequence[ModelMessage]) -> int:
    """Return where the person spoke last; what we tell the model in their role is no word."""
    return max(
        i
        for i, message in enumerate(messages)
        if message.role == "user" and message.text not in PROMPTINGS
    )


def _fitted(
    messages: Sequence[ModelMessage], droppable: range, room: int
) -> tuple[ModelMessage, ...] | None:
    kept = list(messages)
    too_many = tokens_of(kept) - room
    for index in droppable:
        if too_many <= 0:
            break
        smaller = _left_out(kept[index])
        too_many -= tokens_of([kept[index]]) - tokens_of([smaller])
        kept[index] = smaller
    return tuple(kept) if too_many <= 0 else None


def _left_out(message: ModelMessage) -> ModelMessage:
    if message.role == "tool" and len(message.text) > len(_LEFT_OUT):
        return replace(message, text=_LEFT_OUT)
    calls = tuple(
        replace(call, arguments=_NO_ARGUMENTS) if len(call.arguments) > _MUCH else call
        for call in message.tool_calls
    )
    return replace(message, tool_calls=calls)
