"""Folds passages that say nearly the same: copies, versions, the same text under two paths.

Two passages are alike if most of the runs of three words in either are in both and their numbers
are the same: what differs in a number alone (two invoices, two months) says something else. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final

from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.neighbours import Found

# The share of runs in common from which on two passages are the same to a reader.
_ALIKE: Final = 0.85
_LONG_WORD: Final = 40
_RUN_CHARS: Final = 8
_NUMBERS: Final = re.compile(r"\d+")


class _Print:
    """What a passage is compared by; its runs are made when they are first asked for."""

    def __init__(self, text: str) -> None:
        self.words = text.casefold().split()
        self.numbers = tuple(_NUMBERS.findall(text))

    @cached_property
    def runs(self) -> frozenset[object]:
        """The runs of three words; of letters where there are no blanks between words."""
        if any(len(word) > _LONG_WORD for word in self.words):
            flat = "".join(self.words)
            return frozenset(flat[at : at + _RUN_CHARS] for at in range(len(flat) - _RUN_CHARS + 1))
        return frozenset(pairwise(pairwise(self.words)))


@dataclass(slots=True)
class Folded:
    """A passage that was found, and the places of those that say the same, best first."""

    found: Found
    same: list[Candidate] = field(default_factory=list[Candidate])


def fold(found: Sequence[Found], *, limit: int, looked_at: int) -> list[Folded]:
    """Return the first `limit` passages that differ, those alike in one vault as one.

    Args:
        found: Passages, best first.
        limit: How many to return at most.
        looked_at: How many to look at where fewer give as many; more are where these do not.

    """
    kept: list[Folded] = []
    comparable: defaultdict[object, list[tuple[_Print, Folded]]] = defaultdict(list)
    for number, each in enumerate(found):
        if number >= looked_at and len(kept) >= limit:
            break
        candidate, own = each.ranked.candidate, _Print(each.text)
        others = comparable[candidate.vault, own.numbers]
        same = next((folded for other, folded in others if _alike(own, other)), None)
        if same is not None:
            same.same.append(candidate)
        else:
            kept.append(Folded(each))
            others.append((own, kept[-1]))
    return kept[:limit]


def _alike(one: _Print, other: _Print) -> bool:
    """Tell whether two passages with the same numbers say nearly the same."""
    fewer, more = sorted((len(one.words), len(other.words)))
    if fewer < _ALIKE * more:
        return False
    shared, every = len(one.runs & other.runs), len(one.runs | other.runs)
    return one.words == other.words or (every > 0 and shared >= _ALIKE * every)
