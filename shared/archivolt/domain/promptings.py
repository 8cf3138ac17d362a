"""What a model is told in a person's role though no person said it: its turn came to nothing."""

from typing import Final

UNREADABLE_CALL: Final = (
    "Your last tool call was malformed and did not run. Write it again, or answer."
)
"""Of a call that has no id to answer to."""

EMPTY_ANSWER: Final = "Your last turn was empty. Answer now, with what you have."

PROMPTINGS: Final = frozenset({UNREADABLE_CALL, EMPTY_ANSWER})
