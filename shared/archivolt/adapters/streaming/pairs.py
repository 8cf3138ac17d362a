"""Keeps calls and their results together: every provider refuses a history where they are not."""

import json
from collections.abc import Sequence

from archivolt.adapters.streaming.json_values import an_object
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelMessage

NOT_RUN = "The call was not run."


def valid_pairs(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return the messages with one result for each call, in order, and none without a call."""
    paired: list[ModelMessage] = []
    results: dict[str, ModelMessage] = {}
    for message in reversed(messages):
        if message.role == "tool":
            results[message.tool_call_id] = message
            continue
        if not message.tool_calls:
            paired.append(message)
            results = {}
            continue
        told = [
            results.get(call.id) or ModelMessage(role="tool", tool_call_id=call.id, text=NOT_RUN)
            for call in message.tool_calls
        ]
        paired.extend(reversed(told))
        paired.append(message)
        results = {}
    return paired[::-1]


def arguments_object(arguments: str) -> JsonObject:
    """Return arguments as they were, or none: a history with broken JSON is refused for ever.

    So is one with half a character or a number that JSON does not know, which no request can carry.
    """
    try:
        value = an_object(json.loads(arguments))
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return {}
    return value


def system_text(messages: Sequence[ModelMessage]) -> str:
    """Return the system prompts as one, for formats that keep it apart."""
    return "\n\n".join(each.text for each in messages if each.role == "system" and each.text)
