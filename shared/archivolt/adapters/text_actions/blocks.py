"""The blocks by which a model without tools acts (O17): JSON within a fence of their own.

What a block looks like is in the rules that such a model is given (`requests`).
"""

import json
import re
from typing import Any, Final, cast

from archivolt.ports.chat_model import ModelToolCall

ACTIONS: Final = ("create_file", "create_directory")

_FENCE: Final = "```obsigate-action"
_END: Final = re.compile(r"\n[ \t]*```[ \t]*(?=\n|$)")


class ActionReader:
    """Takes the blocks out of a text that comes in pieces; what is in them is shown to nobody."""

    def __init__(self) -> None:
        self._held = ""
        self._in_block = False
        self._calls: list[ModelToolCall] = []

    def feed(self, piece: str) -> str:
        """Return what of the text can be shown now."""
        self._held += piece
        shown = ""
        while True:
            if self._in_block and not self._read_block():
                return shown
            before, found, after = self._held.partition(_FENCE)
            if not found:
                may_begin = _beginning_of_fence(self._held)
                shown += self._held[: len(self._held) - may_begin]
                self._held = self._held[len(self._held) - may_begin :]
                return shown
            shown, self._held, self._in_block = shown + before, after, True

    def close(self, *, whole: bool) -> tuple[str, tuple[ModelToolCall, ...]]:
        """Return the rest of the text, and the calls; a block without its end counts if `whole`."""
        held, self._held = self._held, ""
        if not self._in_block:
            return held, tuple(self._calls)
        if whole and held.strip():
            self._calls.append(_call(held))
        return "", tuple(self._calls)

    def _read_block(self) -> bool:
        """Take one block off, if its end has come; a document in it may have fences of its own."""
        for end in _END.finditer(self._held):
            body = self._held[: end.start()]
            if _parsed(body) is not None:
                self._calls.append(_call(body))
                self._held, self._in_block = self._held[end.end() :], False
                return True
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


def _beginning_of_fence(text: str) -> int:
    """Return how many characters at the end may be the beginning of a fence."""
    for size in range(min(len(_FENCE) - 1, len(text)), 0, -1):
        if text.endswith(_FENCE[:size]):
            return size
    return 0
