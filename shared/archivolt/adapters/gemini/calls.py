"""Assembles function calls: whole ones, and those whose arguments come piece by piece."""

import json
from dataclasses import dataclass, field

from archivolt.adapters.gemini.partial_arguments import PartialArguments
from archivolt.adapters.streaming.json_values import an_object, joined, objects, text
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelToolCall


@dataclass(slots=True, eq=False)
class FunctionCall:
    """A call as far as it is known; `ended` once nothing follows."""

    name: str
    id: str = ""
    signature: str = ""
    ended: bool = False
    partial: PartialArguments = field(default_factory=PartialArguments)

    def as_model_call(self) -> ModelToolCall:
        """Return the call; one that is not whole has arguments that nobody can read as JSON."""
        arguments = json.dumps(self.partial.value)
        if not (self.ended and self.partial.is_whole):
            arguments = arguments.removesuffix("}")
        return ModelToolCall(id=self.id, name=self.name, arguments=joined(arguments))


class FunctionCallAssembler:
    """Takes the `functionCall` parts of one turn in order."""

    def __init__(self) -> None:
        self.calls: list[FunctionCall] = []
        self._open: FunctionCall | None = None

    def feed(self, part: JsonObject) -> FunctionCall | None:
        """Take a part and return the call that it begins, if it begins one."""
        piece = an_object(part.get("functionCall"))
        call, began = self._open, False
        if call is None or self._is_another(piece, call):
            if not (piece.get("name") or piece.get("args") or piece.get("partialArgs")):
                return None  # the end of a call that has ended
            call, began = FunctionCall(name=text(piece.get("name"))), True
            self.calls.append(call)
        call.id = call.id or text(piece.get("id"))
        call.signature = call.signature or text(part.get("thoughtSignature"))
        call.partial.value.update(an_object(piece.get("args")))
        for argument in objects(piece.get("partialArgs")):
            call.partial.feed(argument)
        call.ended = not piece.get("willContinue")
        self._open = None if call.ended else call
        return call if began else None

    def _is_another(self, piece: JsonObject, call: FunctionCall) -> bool:
        """Tell whether a piece begins a call although `call` has not ended."""
        name = text(piece.get("name"))
        return bool(name) and (name != call.name or not piece.get("partialArgs"))
