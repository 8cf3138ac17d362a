"""What of a completion request some providers and models do not take, learned from complaints.

Some providers know no `stream_options`; newer models of OpenAI take `max_completion_tokens`, and no
tools while they reason; a model may write less than a tenant allows; one that thinks may miss
thoughts that it had no words for; some let nobody speak right after a tool; and OpenAI reads of a
tool's description so much alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from archivolt.domain.tool import JsonObject

# As OpenAI, DeepSeek, Qwen, Groq and Together say it.
_TOO_MANY_TOKENS: Final = re.compile(
    r"at most (\d{2,7}) completion tokens"
    r"|max_(?:completion_)?tokens\b.{0,60}?\[1, ?(\d{2,7})\]"
    r"|max_(?:completion_)?tokens\b.{0,60}?(?:less than or equal to|<=)\W{0,4}(\d{2,7})"
)
# As vLLM and OpenRouter say it: the window, and what of it the question takes.
_NO_ROOM: Final = re.compile(
    r"\(\d+ > (?P<window>\d{2,8}) - (?P<asked>\d{1,8})\)"
    r"|maximum context length is (?P<length>\d{2,8}) tokens\b.{0,60}?requested"
    r".{0,40}?\((?P<said>\d{1,8}) (?:in the messages|of text input)"
    r"(?:, (?P<tools>\d{1,8}) (?:in the functions|of tool input))?"
)
_LEAST_ANSWER: Final = 256
_NO_TOOLS_WHILE_REASONING = re.compile(r"tools with reasoning_effort|reasoning_effort to .?none")
_THOUGHTS_ARE_MISSED = re.compile(r"reasoning_content.{1,80}passed back")
_ANSWER_IS_MISSED: Final = re.compile(r"role 'user' after role 'tool'|roles must alternate")
_TOO_MANY_WORDS: Final = re.compile(
    r"tools\[\d+\]\.function\.description\W.{0,40}too long.{0,60}maximum length (\d{2,5})"
)
_NAMES = ("max_tokens", "max_completion_tokens")
_HEARD: Final = {"role": "assistant", "content": "OK."}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one model wants to be asked. `most` is how many tokens it writes, 0 for any number.

    `reasons`: also where it is given tools. `thinks`: whenever it likes to. `answers`: it must have
    said something between what a tool gave and what a person says. `described`: how many characters
    it takes of what a tool is, 0 for any number.
    """

    counts: bool = True
    limit_name: str = "max_tokens"
    most: int = 0
    reasons: bool = True
    thinks: bool = True
    answers: bool = False
    described: int = 0

    def spoken(self, body: Mapping[str, Any]) -> JsonObject:
        """Return a request in this dialect."""
        asked = next(body[name] for name in _NAMES if name in body)
        left_out = {*_NAMES, *(() if self.counts else ("stream_options",))}
        kept = {name: value for name, value in body.items() if name not in left_out}
        if not self.reasons and "tools" in body:
            kept["reasoning_effort"] = "none"
        if not self.thinks:
            kept["thinking"] = {"type": "disabled"}
        if self.answers:
            kept["messages"] = _answered(body["messages"])
        if self.described and "tools" in body:
            kept["tools"] = [_briefly(tool, self.described) for tool in body["tools"]]
        return kept | {self.limit_name: min(asked, self.most) if self.most else asked}

    def learned(self, complaint: str) -> "Dialect":
        """Return the dialect after a complaint; the same where it is about something else."""
        if limit := _TOO_MANY_TOKENS.search(complaint):
            return replace(self, most=int(next(filter(None, limit.groups()))))
        if words := _TOO_MANY_WORDS.search(complaint):
            return replace(self, described=int(words[1]))
        renamed = self.limit_name == "max_tokens" and "max_completion_tokens" in complaint
        changes: tuple[tuple[object, dict[str, Any]], ...] = (
            (self.counts and "stream_options" in complaint, {"counts": False}),
            (renamed, {"limit_name": "max_completion_tokens"}),
            (self.reasons and _NO_TOOLS_WHILE_REASONING.search(complaint), {"reasons": False}),
            (self.thinks and _THOUGHTS_ARE_MISSED.search(complaint), {"thinks": False}),
            (_ANSWER_IS_MISSED.search(complaint), {"answers": True}),
        )
        return next((replace(self, **change) for applies, change in changes if applies), self)


def shortened(body: Mapping[str, Any], complaint: str) -> JsonObject | None:
    """Return a request for an answer that the window has room for, by what the complaint says.

    None: it says nothing of that, or there is no room worth asking for. It holds for one request:
    the next has another length.
    """
    said = _NO_ROOM.search(complaint)
    if said is None:
        return None
    window, asked = (int(said[a] or said[b]) for a, b in (("window", "length"), ("asked", "said")))
    name = next(each for each in _NAMES if each in body)
    room = window - asked - int(said["tools"] or 0)
    return {**body, name: room} if _LEAST_ANSWER <= room < body[name] else None


def _briefly(tool: JsonObject, most: int) -> JsonObject:
    function = tool["function"]
    words = function.get("description", "")
    if len(words) <= most:
        return tool
    return {**tool, "function": {**function, "description": f"{words[: most - 1]}…"}}


def _answered(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the messages with a word of the model between a tool's result and a person's."""
    told = list(messages[:1])
    for before, message in pairwise(messages):
        if (before["role"], message["role"]) == ("tool", "user"):
            told.append(_HEARD)
        told.append(message)
    return told
