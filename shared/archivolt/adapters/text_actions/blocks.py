"""The blocks by which a model without tools acts (O17): JSON within a fence of their own.

What a block looks like is in the rules that such a model is given (`requests`).
"""

import json
import re
from typing import Any, Final, cast

from archivolt.ports.chat_model import ModelToolCall

ACTIONS: Final = ("create_file", "create_directory")

_FENCE: Final = "```obsigate-action"
# As models write it; what may become one is held back, and no more of a line than that takes.
_OPENS: Final = re.compile(r"```[ \t]{0,3}(?:json[ \t:]{1,3})?obsigate[-_ ]action", re.IGNORECASE)
_MAY_OPEN: Final = re.compile(r"`{1,2}\Z|```[\w \t:-]{0,26}\Z")
_END: Final = re.compile(r"\n[ \t]*```[ \t]*(?=\n|$)")


class ActionReader:
    """Takes the blocks out of a text that comes in pieces; what is in them is shown to nobody."""

    def __init__(self) -> None:
        self._held = ""
        self._in_block = False
        self._looked_at = 0
        self._calls: list[ModelToolCall] = []

    def feed(self, piece: str) -> str:
        """Return what of the text can be shown now."""
        self._held += piece
        shown = ""
        while True:
            if self._in_block and not self._read_block():
                return shown
            opening = _OPENS.search(self._held)
            if opening is None:
                may_open = _MAY_OPEN.search(self._held)
                ready = may_open.start() if may_open else len(self._held)
                shown, self._held = shown + self._held[:ready], self._held[ready:]
                return shown
            shown += self._held[: opening.start()]
            self._held, self._in_block = self._held[opening.end() :], True

    def close(self, *, whole: bool) -> tuple[str, tuple[ModelToolCall, ...]]:
        """Return the rest of the text, and the calls; of a text that is not `whole` none runs."""
        held, self._held = self._held, ""
        if self._in_block and held.strip():
            self._calls.append(_call(held))
        return "" if self._in_block else held, tuple(self._calls) if whole else ()

    def _read_block(self) -> bool:
        """Take one block off, if its end has come; a document in it may have fences of its own."""
        for end in _END.finditer(self._held, self._looked_at):
            self._looked_at = end.start() + 1  # what does not end a block here never will
            body = self._held[: end.start()]
            if _parsed(body) is not None:
                self._calls.append(_call(body))
                self._held, self._in_block = self._held[end.end() :], False
                self._looked_at = 0
                return True
        self._looked_at = max(self._looked_at, self._held.rfind("\n"))
        return False


def block(call: ModelToolCall) -> str:
    """Return a call as the model would have written it."""
    written = {"action": call.name, **(_parsed(call.arguments) or {})}
    return f"{_FENCE}\n{json.dumps(written, ensure_ascii=False)}\n```"


def _call(body: str) -> ModelToolCall:
    """Return the call of a block; what is no JSON stays as it is, for the loop to refuse."""
    read = _parsed(body)
    if read is None:
        return ModelToolCall(id="", name=ACTIONS[0], arguments=body.strip())
    name = str(read.pop("action", ""))
    return ModelToolCall(id="", name=name, arguments=json.dumps(read))


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        # Models write line ends into strings as they are.
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
