"""Finds what two languages write alike: names, numbers and words of one origin.

`televisión` begins like `television`, `Napoleón` like `Napoleon`. A question in another language
than the passages shares few whole words with them, and its names and technical terms with these
beginnings. Decision 47 has the figures. Pure.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

from archivolt.domain.folding import folded
from archivolt.ports.retrieval import Candidate

# Five or six letters found less in every set that was tried.
_LETTERS: Final = 4
_WORDS: Final = re.compile(rf"[^\W\d_]{{{_LETTERS},}}|\d+")


def cognate_scores(question: str, candidates: Sequence[Candidate]) -> list[float]:
    """Return for each passage how many of the question's words begin as words of it do.

    What few of these passages have counts more, as in BM25; 0 is nothing in common.
    """
    asked = _beginnings(question)
    if not asked:
        return [0.0] * len(candidates)
    shared = [asked & _beginnings_of(candidate) for candidate in candidates]
    weights = {
        each: _weight(sum(each in some for some in shared), len(candidates)) for each in asked
    }
    return [math.fsum(weights[each] for each in some) for some in shared]


def _beginnings_of(candidate: Candidate) -> set[str]:
    passage = candidate.passage
    return _beginnings("\n".join([*passage.headings, passage.text]))


def _beginnings(text: str) -> set[str]:
    found: list[str] = _WORDS.findall(folded(text))
    return {word if word.isdigit() else word[:_LETTERS] for word in found}


def _weight(having: int, passages: int) -> float:
    return math.log(1 + (passages - having + 0.5) / (having + 0.5))
