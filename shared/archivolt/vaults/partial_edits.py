"""Recognises a text that would cut a file short because its author saw only a part of it."""

from typing import Final

from archivolt.domain.language import Language
from archivolt.domain.limits import MAX_TOOL_RESULT_CHARS
from archivolt.domain.line_alignment import same_lines
from archivolt.domain.messages import MESSAGES

# A result holds more than the text, and JSON takes more characters than the text has.
_MAY_BE_CUT: Final = MAX_TOOL_RESULT_CHARS * 3 // 4
_NOTES: Final = tuple(
    MESSAGES["result_continues"].spoken(language).partition("{")[0] for language in Language
)
_ELLIPSES: Final = ("...", "…")


def is_of_a_part(content: str, shown: str) -> bool:
    """Tell whether `content`, as the new text of a file that shows as `shown`, lacks its end.

    It does where it holds the note that ends a cut result, or where the file does not fit into one
    result and `content` follows it to some point and then has nothing of the rest, or just a sign
    that something is left out.
    """
    if any(content.count(note) > shown.count(note) for note in _NOTES):
        return True
    return len(shown) > _MAY_BE_CUT and _lacks_the_rest(content, shown)


def _lacks_the_rest(content: str, shown: str) -> bool:
    old, new = ([line.rstrip() for line in text.splitlines()] for text in (shown, content))
    stretches = same_lines(old, new)
    if not stretches:
        return False
    last = stretches[-1]
    lost = "\n".join(old[last.old + last.size :]).strip()
    instead = "\n".join(new[last.new + last.size :]).strip()
    if not lost:
        return False
    return lost.startswith(instead) or (
        len(instead) * 4 < len(lost) and any(mark in instead for mark in _ELLIPSES)
    )
