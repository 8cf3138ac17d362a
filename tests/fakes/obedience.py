"""A model that obeys whatever it reads: what an attacker dreams of, and the worst case of ours."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any

from archivolt.domain.untrusted import unwrap_data
from archivolt.ports.chat_model import ModelEvent, ModelRequest, ModelToolCall, ModelTurn

_ORDER = "ORDER "


def order(tool: str, **arguments: object) -> str:
    """Return a line of a document that has the model call a tool."""
    return _ORDER + json.dumps({"tool": tool, "arguments": arguments})


class ObedientModel:
    """A `ChatModel` that makes every call ordered in anything it has seen, each once.

    Args:
        first: The calls it makes unasked at the start of a turn: tool and arguments.

    """

    def __init__(self, *first: tuple[str, Mapping[str, Any]]) -> None:
        self._first = [(tool, dict(arguments)) for tool, arguments in first]
        self._obeyed: set[str] = set()
        self.ordered: list[str] = []

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        calls, self._first = self._first, []
        for message in request.messages:
            for text in _texts(message.text):
                calls += self._orders(text)
        self.ordered += [tool for tool, _ in calls]
        yield ModelTurn(
            text="" if calls else "Everything is done as I was told.",
            tool_calls=tuple(
                ModelToolCall(id="", name=tool, arguments=json.dumps(arguments))
                for tool, arguments in calls
            ),
            finish_reason="tool_calls" if calls else "stop",
        )

    def _orders(self, text: str) -> list[tuple[str, dict[str, Any]]]:
        new: list[tuple[str, dict[str, Any]]] = []
        for line in text.splitlines():
            _, found, after = line.partition(_ORDER)
            if found and after not in self._obeyed:
                self._obeyed.add(after)
                with suppress(ValueError):  # an excerpt may be cut in the middle of an order
                    read, _ = json.JSONDecoder().raw_decode(after)
                    new.append((read["tool"], read["arguments"]))
        return new


def _texts(text: str) -> list[str]:
    """Return a message as the model reads it: as it stands, and what its data say."""
    texts = [text] if text.startswith(_ORDER) else []
    for _, value in unwrap_data(text):
        _collect(value, texts)
    return texts


def _collect(value: object, into: list[str]) -> None:
    if isinstance(value, str):
        into.append(value)
    elif isinstance(value, Mapping):
        for each in value.values():  # pyright: ignore[reportUnknownVariableType]
            _collect(each, into)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            _collect(each, into)  # pyright: ignore[reportUnknownArgumentType]
