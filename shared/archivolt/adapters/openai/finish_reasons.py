"""What the reasons mean for which OpenAI-compatible providers end an answer.

The format has five; gateways pass on those of the model's own provider, and some servers end
an answer that broke off as if it were whole.
"""

from enum import Enum, auto
from typing import Final


class Ending(Enum):
    """How an answer ended; what follows `OVER` is worse, and no call of such an answer runs."""

    OVER = auto()
    CUT = auto()
    FILTERED = auto()
    MALFORMED = auto()
    FAILED = auto()


_NO_END: Final = frozenset({"", "null", "none", "finish_reason_unspecified", "not_finished"})
_CUT: Final = frozenset(
    {
        *("length", "max_tokens", "model_length", "max_output_tokens", "token_limit"),
        "model_context_window_exceeded",
    }
)
_FILTERED: Final = (
    *("content_filter", "safety", "sensitive", "refusal"),
    *("recitation", "prohibited_content", "blocklist", "spii"),
    *("image_safety", "image_prohibited_content", "image_recitation", "model_armor"),
)
# A gateway of Gemini writes one behind `function_call_filter:`.
_MALFORMED: Final = ("malformed_function_call", "unexpected_tool_call")
_FAILED: Final = (
    *("error", "abort", "cancel", "network_error"),
    *("insufficient_system_resource", "server_error", "timeout", "time_limit", "user_cancel"),
)


def ending_of(reason: str) -> Ending | None:
    """Return how an answer with this reason ended, None if it goes on."""
    said = reason.strip().lower()
    if said in _NO_END:
        return None
    if said in _CUT:
        return Ending.CUT
    if said.startswith(_FILTERED):
        return Ending.FILTERED
    if any(word in said for word in _MALFORMED):
        return Ending.MALFORMED
    return Ending.FAILED if said.startswith(_FAILED) else Ending.OVER
