"""What RE2 finds wrong with a pattern, as a clause that a person reads in their own language."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from archivolt.adapters.re2.syntax import Kind, Token

# How RE2's messages begin; what follows quotes the pattern as it was written anew, not as it came.
_REASONS: Final[Mapping[str, str]] = {
    "missing )": "pattern_bracket_missing",
    "missing ]": "pattern_bracket_missing",
    "unexpected )": "pattern_bracket_extra",
    "no argument for repetition operator": "pattern_repeats_nothing",
    "bad repetition operator": "pattern_repeats_nothing",
    "invalid repetition size": "pattern_repeat_size",
    "invalid perl operator": "pattern_group_kind",
    "invalid named capture group": "pattern_group_kind",
    "invalid escape sequence": "pattern_escape",
    "trailing \\": "pattern_escape",
    "invalid character class range": "pattern_class",
    "invalid character class": "pattern_class",
}


def problem_of(message: str, tokens: Sequence[Token]) -> str:
    """Return the code in `domain.reasons` of a message of RE2's; its own words where none fits."""
    if any(_opens_unknown_group(*pair) for pair in pairwise(tokens)):
        return "pattern_group_kind"
    found = (code for words, code in _REASONS.items() if message.startswith(words))
    return next(found, message.partition(":")[0])


def _opens_unknown_group(token: Token, following: Token) -> bool:
    return token == (Kind.OPEN, "(") and following.kind is Kind.REPEAT and following.text[0] == "?"
