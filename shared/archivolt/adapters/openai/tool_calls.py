"""Assembles tool calls from the pieces in which providers send them.

What was seen in the wild decides: pieces found by index, by id, or by neither; ids empty, late or
repeated; names repeated or in pieces; arguments as text, as an object, null, or sent twice.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from archivolt.adapters.streaming.json_values import an_object, joined, text
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelToolCall


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: JsonObject = field(default_factory=dict[str, Any])

    @property
    def is_complete(self) -> bool:
        """Tell whether nothing can follow: the arguments are a whole JSON object."""
        if not self.arguments.rstrip().endswith("}"):
            return False
        try:
            return isinstance(json.loads(self.arguments), dict)
        except (ValueError, RecursionError):
            return False


class ToolCallAssembler:
    """Takes the deltas of the calls of one turn and gives the calls."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def feed(self, delta: JsonObject) -> None:
        """Take one entry of `delta.tool_calls`."""
        function = an_object(delta.get("function"))
        raw = function.get("arguments")
        arguments = json.dumps(raw) if isinstance(raw, dict) else text(raw)
        index = delta.get("index")
        piece = _Call(
            index=index if isinstance(index, int) else None,
            id=text(delta.get("id")),
            name=text(function.get("name")),
            arguments=arguments,
            extra=an_object(delta.get("extra_content")),
        )
        call = self._continued(piece)
        if call is None:
            self._calls.append(piece)
        else:
            _extend(call, piece)

    def calls(self) -> tuple[ModelToolCall, ...]:
        """Return the calls in the order in which they began; a name may be missing."""
        return tuple(
            ModelToolCall(id=call.id, name=call.name, arguments=joined(call.arguments) or "{}")
            for call in self._calls
        )

    def extras(self) -> list[JsonObject]:
        """Return the items of an echo: what came beside a call, such as Gemini's signatures."""
        return [
            {"call": place, "extra_content": call.extra}
            for place, call in enumerate(self._calls)
            if call.extra
        ]

    def _continued(self, piece: _Call) -> _Call | None:
        """Return the call that `piece` belongs to, None when it begins one."""
        same_place = [
            call
            for call in self._calls
            if piece.index is None or call.index is None or call.index == piece.index
        ]
        same_id = [call for call in same_place if piece.id and call.id == piece.id]
        if same_id:
            return same_id[-1] if not _begins_another(same_id[-1], piece) else None
        if not same_place:
            return None
        call = same_place[-1]
        if piece.name and piece.id and call.id:
            return None  # two ids, two names: an index used twice
        return None if _begins_another(call, piece) else call


def _begins_another(call: _Call, piece: _Call) -> bool:
    """Tell whether a piece with a name can no longer belong to `call`, which has its arguments."""
    if not piece.name or not piece.arguments.strip() or not call.is_complete:
        return False
    return piece.arguments != call.arguments or not piece.id


def _extend(call: _Call, piece: _Call) -> None:
    call.id = call.id or piece.id
    call.extra = call.extra or piece.extra
    if piece.name and piece.name != call.name and not call.arguments:
        call.name += piece.name
    sent_again = piece.arguments == call.arguments and call.is_complete
    if not sent_again:
        call.arguments += piece.arguments
