"""Joins passages that stand next to each other in a document: one place is one hit. Pure.

What stands before a document's first title, such as its properties, is one place with what follows.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from archivolt.retrieval.fusion import Ranked
from archivolt.retrieval.sentences import repeated_start


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A passage, or neighbours in one: the best of them, their whole text, their first line."""

    ranked: Ranked
    text: str
    line: int | None = None


def joined(ranked: Sequence[Ranked]) -> list[Found]:
    """Return passages as they are, neighbours in one place and on the same page as one.

    Each stands where the best of its passages stood.
    """
    documents: defaultdict[object, list[Ranked]] = defaultdict(list)
    for each in ranked:
        candidate = each.candidate
        documents[candidate.vault, candidate.path, candidate.generation].append(each)
    order = {id(each): number for number, each in enumerate(ranked)}
    runs = [run for passages in documents.values() for run in _runs(passages)]
    runs.sort(key=lambda run: min(order[id(each)] for each in run))
    return [_found(run, min(run, key=lambda each: order[id(each)])) for run in runs]


def _runs(passages: Sequence[Ranked]) -> list[list[Ranked]]:
    in_order = sorted(passages, key=lambda each: each.candidate.passage.number)
    runs = [in_order[:1]]
    for before, each in pairwise(in_order):
        if _are_neighbours(before, each):
            runs[-1].append(each)
        else:
            runs.append([each])
    return runs


def _are_neighbours(before: Ranked, after: Ranked) -> bool:
    one, other = before.candidate.passage, after.candidate.passage
    same_place = other.headings == one.headings or not one.headings
    return other.number == one.number + 1 and same_place and other.page == one.page


def _found(run: Sequence[Ranked], best: Ranked) -> Found:
    passages = [each.candidate.passage for each in run]
    text = passages[0].text
    for before, passage in pairwise(passages):
        repeated = repeated_start(before.text, passage.text)
        text += passage.text[repeated:] if repeated else f"\n\n{passage.text}"
    return Found(ranked=best, text=text, line=passages[0].line)
