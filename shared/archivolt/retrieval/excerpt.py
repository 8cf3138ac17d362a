"""The part of a passage that is shown: the sentences that say most of what was asked."""

import re
from collections.abc import Sequence
from typing import Final

from archivolt.domain.limits import MAX_EXCERPT_CHARS
from archivolt.retrieval.analysis import terms

_SENTENCE: Final = re.compile(r"[^\n]+?(?:[.!?…]+(?=\s|$)|[\u3002\uff01\uff1f]+|\n+|$)|\n+")


def best_sentences(
    text: str, groups: Sequence[Sequence[str]], *, limit: int = MAX_EXCERPT_CHARS
) -> str:
    """Return the run of sentences with the most of the question's words, within `limit` characters.

    Args:
        text: A passage.
        groups: The question's words, as `analysis.query_terms` makes them.
        limit: The most characters to return.

    """
    if len(text) <= limit:
        return text
    sentences = [match.span() for match in _SENTENCE.finditer(text)]
    held = [_words_of(text[start:end], groups) for start, end in sentences]
    best = (-1, 0, 0)
    for first, (start, _) in enumerate(sentences):
        last = first
        said = set(held[first])
        while last + 1 < len(sentences) and sentences[last + 1][1] - start <= limit:
            last += 1
            said |= held[last]
        best = max(best, (len(said), -start, min(sentences[last][1], start + limit)))
    return text[-best[1] : best[2]].strip()


def _words_of(sentence: str, groups: Sequence[Sequence[str]]) -> set[int]:
    said = terms(sentence)
    return {number for number, group in enumerate(groups) if any(term in said for term in group)}
