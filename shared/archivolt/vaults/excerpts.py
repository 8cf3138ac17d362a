"""The part of a passage that shows why it was found, and where the words stand in it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from archivolt.domain.limits import FULLTEXT_EXCERPT_CHARS
from archivolt.retrieval.analysis import query_terms

_WORD: Final = re.compile(r"\w+(?:['\u2019.+#-]\w+)*[+#]*")
_PAIR: Final = 2
# How much of the excerpt stands before the first word found.
_LEAD_CHARS: Final = 60
_SPACE_NEAR: Final = 20

Span = tuple[int, int]


class Excerpt(NamedTuple):
    """A piece of text, and the spans in it (start, end, in characters) that were asked for."""

    text: str
    highlights: list[Span]


def excerpt_of(text: str, terms: Sequence[Sequence[str]]) -> Excerpt:
    """Return the piece of `text` around the most of `terms`, at most 300 characters long.

    `terms` are groups as `archivolt.retrieval.analysis.query_terms` makes them.
    """
    asked = frozenset(term for group in terms for term in group)
    return window_of(text, _merged(sorted(_spans(text, asked))))


def window_of(text: str, spans: Sequence[Span]) -> Excerpt:
    """Return the piece of `text` around the most of `spans`, at most 300 characters long.

    A span that does not fit ends with the piece.
    """
    start = _start(text, spans)
    end = _end(text, start)
    return Excerpt(
        text=text[start:end],
        highlights=[(s - start, min(e, end) - start) for s, e in spans if start <= s < end],
    )


def _spans(text: str, asked: frozenset[str]) -> Iterator[Span]:
    for match in _WORD.finditer(text):
        found = asked.intersection(_terms_of(match.group()))
        if not found:
            continue
        pairs = [term for term in found if len(term) == _PAIR and term in match.group()]
        if pairs and not match.group().isascii():
            yield from _occurrences(match.group(), pairs, match.start())
        else:
            yield match.span()


def _occurrences(run: str, pairs: Iterable[str], offset: int) -> Iterator[Span]:
    """Yield where pairs stand in a run of a script without spaces."""
    for pair in pairs:
        position = run.find(pair)
        while position >= 0:
            yield offset + position, offset + position + len(pair)
            position = run.find(pair, position + 1)


@lru_cache(maxsize=16_384)
def _terms_of(word: str) -> frozenset[str]:
    return frozenset(term for group in query_terms(word) for term in group)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _start(text: str, spans: Sequence[Span]) -> int:
    """Return where the excerpt starts: a little before the window with the most spans."""
    if len(text) <= FULLTEXT_EXCERPT_CHARS or not spans:
        return 0
    room = FULLTEXT_EXCERPT_CHARS - _LEAD_CHARS
    best = max(spans, key=lambda first: sum(first[0] <= s < first[0] + room for s, _ in spans))
    start = min(max(0, best[0] - _LEAD_CHARS), len(text) - FULLTEXT_EXCERPT_CHARS)
    space = text.find(" ", start, start + _SPACE_NEAR) if start else -1
    return start if space < 0 or space >= best[0] else space + 1


def _end(text: str, start: int) -> int:
    end = start + FULLTEXT_EXCERPT_CHARS
    if end >= len(text):
        return len(text)
    space = text.rfind(" ", end - _SPACE_NEAR, end)
    return end if space < 0 else space
