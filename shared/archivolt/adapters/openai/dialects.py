"""What of a completion request some providers and models do not take, learned from complaints.

Some providers know no `stream_options`; newer models of OpenAI take `max_completion_tokens`, and no
tools while they reason; a model may write less than a tenant allows; and one that thinks may miss
thoughts that it had no words for.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from archivolt.domain.tool import JsonObject

_TOO_MANY_TOKENS = re.compile(r"at most (\d{2,7}) completion tokens")
_NO_TOOLS_WHILE_REASONING = re.compile(r"tools with reasoning_effort|reasoning_effort to .?none")
_THOUGHTS_ARE_MISSED = re.compile(r"reasoning_content.{1,80}passed back")
_NAMES = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one model wants to be asked. `most` is how many tokens it writes, 0 for any number.

    `reasons`: also where it is given tools. `thinks`: whenever it likes to.
    """

    counts: bool = True
    limit_name: str = "max_tokens"
    most: int = 0
    reasons: bool = True
    thinks: bool = True

    def spoken(self, body: Mapping[str, Any]) -> JsonObject:
        """Return a request in this dialect."""
        asked = next(body[name] for name in _NAMES if name in body)
        left_out = {*_NAMES, *(() if self.counts else ("stream_options",))}
        kept = {name: value for name, value in body.items() if name not in left_out}
        if not self.reasons and "tools" in body:
            kept["reasoning_effort"] = "none"
        if not self.thinks:
            kept["thinking"] = {"type": "disabled"}
        return kept | {self.limit_name: min(asked, self.most) if self.most else asked}

    def learned(self, complaint: str) -> "Dialect":
        """Return the dialect after a complaint; the same where it is about something else."""
        if self.counts and "stream_options" in complaint:
            return replace(self, counts=False)
        if self.limit_name == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, limit_name="max_completion_tokens")
        if self.reasons and _NO_TOOLS_WHILE_REASONING.search(complaint):
            return replace(self, reasons=False)
        if self.thinks and _THOUGHTS_ARE_MISSED.search(complaint):
            return replace(self, thinks=False)
        limit = _TOO_MANY_TOKENS.search(complaint)
        return replace(self, most=int(limit[1])) if limit else self
