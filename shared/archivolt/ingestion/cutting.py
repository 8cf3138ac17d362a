"""Cuts a text that is too long for one passage, at the best places there are.

It knows no Markdown: paragraphs, lines, sentences and words are its places; a text without any is
cut between characters.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from typing import Final
from unicodedata import combining

from archivolt.retrieval.sentences import Span
from archivolt.retrieval.sentences import gaps as sentence_gaps

Count = Callable[[str], int]
Gaps = Callable[[str, Span], Iterable[Span]]
"""Tells what stands between the parts of a piece of a text."""


def _between(pattern: str) -> Gaps:
    compiled = re.compile(pattern)
    return lambda text, within: (match.span() for match in compiled.finditer(text, *within))


_PARAGRAPH: Final = _between(r"\n(?:[ \t]*\n)+")
_LINE: Final = _between(r"\n")
_CLAUSE: Final = _between(r"(?<=[.!?…:;])\s+")
_WORD: Final = _between(r"\s+")
_MAX_MARKS: Final = 16

PROSE: Final = (_PARAGRAPH, sentence_gaps, _CLAUSE, _LINE, _WORD)
"""Where running text is cut: a line of it may end in the middle of a sentence."""
LINES: Final = (_PARAGRAPH, _LINE, sentence_gaps, _CLAUSE, _WORD)
"""Where code, lists and tables are cut."""


def cut(text: str, *, budget: int, count: Count, places: Sequence[Gaps]) -> list[Span]:
    """Return spans of `text`, none over `budget` by `count`, that leave out blanks only.

    A single character is kept even where it alone is over the budget.
    """
    spans = _cut(text, (0, len(text)), budget, count, places)
    return [(start, end) for start, end in spans if text[start:end].strip()]


def pack(text: str, spans: Iterable[Span], *, budget: int, count: Count) -> Iterator[Span]:
    """Join neighbouring spans as long as they fit; one that is over the budget stays alone."""
    around = count("")
    sizes: dict[Span, int] = {}
    for span in spans:
        size = count(text[slice(*span)]) - around
        while sizes and around + sum(sizes.values()) + size > budget:
            yield _take_fitting(text, sizes, budget, count)
        sizes[span] = size
    while sizes:
        yield _take_fitting(text, sizes, budget, count)


def _take_fitting(text: str, sizes: dict[Span, int], budget: int, count: Count) -> Span:
    """Take as many of the first spans as fit together: a whole may count more than its parts."""
    spans = list(sizes)
    taken = len(spans)
    while taken > 1 and count(text[spans[0][0] : spans[taken - 1][1]]) > budget:
        taken -= 1
    for span in spans[:taken]:
        del sizes[span]
    return spans[0][0], spans[taken - 1][1]


def _cut(
    text: str, span: Span, budget: int, count: Count, places: Sequence[Gaps]
) -> Iterator[Span]:
    tokens = count(text[slice(*span)])
    if tokens <= budget or span[1] - span[0] <= 1:
        yield span
    elif not places:
        around = count("")
        for part in _slices(text, span, ceil((tokens - around) / max(1, budget - around))):
            yield from _cut(text, part, budget, count, ())
    else:
        for part in pack(text, _parts(text, span, places[0]), budget=budget, count=count):
            yield from _cut(text, part, budget, count, places[1:])


def _parts(text: str, span: Span, gaps: Gaps) -> Iterator[Span]:
    start, end = span
    for gap_start, gap_end in gaps(text, span):
        if gap_start > start:
            yield start, gap_start
        start = gap_end
    if start < end:
        yield start, end


def _slices(text: str, span: Span, number: int) -> Iterator[Span]:
    """Cut into equal parts, but not between a character and the marks that belong to it."""
    start, end = span
    length = ceil((end - start) / max(2, number))
    while start < end:
        cut_at = min(start + length, end)
        while cut_at < min(start + length + _MAX_MARKS, end) and combining(text[cut_at]):
            cut_at += 1
        if (start, cut_at) == span:  # nothing but marks
            cut_at = start + length
        yield start, cut_at
        start = cut_at
