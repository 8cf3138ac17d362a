"""Tells where sentences end, in French and in English. Pure.

A full stop ends none after a title or an initial (`Dr.`, `J.`, `e.g.`), nor before the number in
`fig. 3`; after a word that is often written with one (`etc.`), not before a small letter.
"""

import re
from collections.abc import Iterator
from typing import Final

Span = tuple[int, int]

# From the first mark of a run only, so that a text of marks costs what its length costs.
_END: Final = re.compile(
    r"""
    (?<![.!?…])(?P<marks>[.!?…]++)
    (?:[ \u00a0\u202f]?»|["”’')\]*_])*+  # what is closed with the sentence
    (?P<gap>\s++)
    | (?<=[。！？])[」』”’）]*+(?P<near>\s*+)
    | (?P<paragraph>\n(?:[ \t]*+\n)++)
    """,  # noqa: RUF001  a text has it
    re.VERBOSE,
)
_WORD_BEFORE: Final = re.compile(r"[^\W_]+(?:[.\-’'][^\W_]+)*\Z")  # noqa: RUF001  a text has it
_LONGEST_WORD: Final = 16
# Far above what a passage repeats of another one.
_MOST_REPEATED: Final = 4_000
# The number of an item, from the start of its line or, at most so much, of the text.
_ITEM: Final = re.compile(r"(?:.*\n)?[ \t>]*\d+", re.DOTALL)

_TITLE: Final = re.compile("Dr|Hon|MM?|Me|Messrs|Mgr|Mlle|Mme|Mrs?|Ms|Prof|Pr|Ste?|cf|vs")
_BEFORE_NUMBERS: Final = re.compile(
    "art|chap|ch|figs?|nos?|n°|pp|r[eé]f|sect?|t[eé]l|vols?", re.IGNORECASE
)
_SELDOM_LAST: Final = re.compile(
    "al|approx|avr|av|corp|co|dec|dept|[eé]ds?|env|etc|ex|feb|févr|inc|jan|janv|jr|juil|ltd|oct"
    "|nov|sept|sr",
    re.IGNORECASE,
)


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences, without the blanks between them.

    A paragraph ends the sentence in it; the last one may be without an end.
    """
    spans: list[Span] = []
    start = 0
    for gap in gaps(text, (0, len(text))):
        if text[start : gap[0]].strip():
            spans.append((start, gap[0]))
        start = gap[1]
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def repeated_start(before: str, after: str) -> int:
    """Return how many of the first characters of a text are the last sentences of another one.

    So a text that was cut with an overlap is put together again.
    """
    most = min(len(before), len(after), _MOST_REPEATED)
    ends = [end for _, end in sentences(after[:most])]
    return next((end for end in reversed(ends) if before.endswith(after[:end])), 0)


def gaps(text: str, within: Span) -> Iterator[Span]:
    """Yield what stands between two sentences, possibly nothing, in order."""
    for match in _END.finditer(text, *within):
        group = match.lastgroup or ""
        start, end = match.span(group)
        if group != "gap" or _ends(text, match):
            yield start, end


def _ends(text: str, match: re.Match[str]) -> bool:
    """Tell whether marks with a blank after them end a sentence."""
    following = text[match.end() : match.end() + 1]
    if match["marks"] != ".":
        return not following.islower()
    at = match.start()
    found = _WORD_BEFORE.search(text, max(0, at - _LONGEST_WORD), at)
    if found is None:
        return True
    word = found[0]
    if word.isdigit():
        return not _ITEM.fullmatch(text[max(0, at - _LONGEST_WORD) : at])
    if len(word) == 1 or "." in word or _TITLE.fullmatch(word):
        return False
    if _BEFORE_NUMBERS.fullmatch(word):
        return not following.isdigit()
    return not (following.islower() and _SELDOM_LAST.fullmatch(word))
