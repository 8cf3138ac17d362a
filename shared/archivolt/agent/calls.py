"""What a model asked for, and whether it can be run at all.

Only the form is judged here: the tool must exist and the arguments must be one JSON object. What
the arguments mean is the tool pipeline's business.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that can be handed to the tool pipeline."""

    id: str
    name: str
    arguments: JsonObject

    @property
    def signature(self) -> str:
        """Return what makes two calls the same, however their arguments are written."""
        return f"{self.name} {json.dumps(self.arguments, sort_keys=True, default=str)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableCall:
    """A call that never runs; `problem` tells the model what to do instead."""

    id: str
    name: str
    problem: str


def read_call(call: ModelToolCall, tools: Collection[str]) -> ToolCall | UnusableCall:
    """Return the call in a form that can run, or why it cannot."""
    if call.name not in tools:
        problem = f"There is no such tool. The tools are: {', '.join(sorted(tools)) or 'none'}."
        return UnusableCall(id=call.id, name=call.name, problem=problem)
    try:
        arguments = _arguments(call.arguments)
    except (ValueError, RecursionError):
        problem = (
            "The arguments are not one complete JSON object, so the tool did not run. "
            "Write the call again, shorter if it was cut."
        )
        return UnusableCall(id=call.id, name=call.name, problem=problem)
    return ToolCall(id=call.id, name=call.name, arguments=arguments)


def _arguments(text: str) -> JsonObject:
    value: object = json.loads(text, parse_constant=_refuse) if text.strip() else {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError  # noqa: TRY004  refused like any other text that is no JSON object
    # Neither half a character nor an endless number can be stored or sent.
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return cast("JsonObject", value)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
