"""Ranks the passages that the lists propose: looks at the question, chooses the mix, drops noise.

A passage that is far from the question still tells where it stands among the others, which orders
those that share words with the question, also where all of them are far; alone it is no answer.
Pure.
"""

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Final

from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.analysis import query_terms
from archivolt.retrieval.cognates import cognate_scores
from archivolt.retrieval.explaining import Weighing
from archivolt.retrieval.fusion import (
    Document,
    Place,
    Ranked,
    coverage,
    evenness,
    fuse,
    is_foreign,
    lead,
    lexical_weight,
    needs_cognates,
    place_of,
)
from archivolt.retrieval.names import names_in

# How many of each list tell whether it knows the question's words, and its language.
_CANDIDATES_THAT_TELL: Final = 10
# How many by meaning, and by words, are searched for cognates: a tenth of a millisecond each.
_COMPARED_BY_MEANING: Final = 50
_COMPARED_BY_WORDS: Final = 25

Groups = Sequence[Sequence[str]]
"""A question's words, as `analysis.query_terms` makes them."""


def by_cosine(dense: Sequence[Candidate]) -> list[Ranked]:
    """Return the list by meaning as it is."""
    return [
        Ranked(candidate=each, score=min(1.0, max(0.0, each.score)), dense=each.score)
        for each in dense
    ]


def by_words_and_meaning(
    question: str,
    groups: Groups,
    lexical: Sequence[Candidate],
    dense: Sequence[Candidate],
    *,
    noise: float,
    without_vectors: Set[Document] = frozenset(),
) -> tuple[list[Ranked], Weighing]:
    """Return the joint list, best first, and how it was mixed.

    Args:
        question: As it was asked.
        groups: Its words.
        lexical: The list by words, best first.
        dense: The list by meaning, best first.
        noise: The cosine below which nearness alone is no answer.
        without_vectors: The documents of `lexical` that cannot be in `dense` yet.

    """
    covered = coverage(groups, lexical[:_CANDIDATES_THAT_TELL])
    foreign = is_foreign(question, dense[:_CANDIDATES_THAT_TELL])
    if foreign:
        # Words meet by chance there: they say nothing of the meaning.
        without_vectors = frozenset()
    cognates = None
    if dense and needs_cognates(covered, foreign=foreign):
        cognates = _cognates(question, lexical, dense)
    weighing = Weighing(
        weight=1.0,
        coverage=covered,
        # What is alike by its words is told apart by its meaning, where that is known of all of it.
        evenness=0.0 if without_vectors else evenness(lexical),
        lead=lead(lexical) if foreign else 0.0,
        foreign=foreign,
        cognates=bool(cognates),
    )
    weighing = replace(weighing, weight=_weight(question, lexical, dense, weighing))
    ranked = fuse(
        lexical, dense, weight=weighing.weight, cognates=cognates, without_vectors=without_vectors
    )
    shown = [each for each in ranked if each.lexical or each.cognates or (each.dense or 0) >= noise]
    return shown, weighing


def _weight(
    question: str, lexical: Sequence[Candidate], dense: Sequence[Candidate], weighing: Weighing
) -> float:
    """Return what the words are worth, by what else the weighing says."""
    if not dense:
        return 1.0
    if not lexical and not weighing.cognates:
        return 0.0
    return lexical_weight(
        weighing.coverage,
        foreign=weighing.foreign,
        even=weighing.evenness,
        ahead=weighing.lead,
        named=weighing.lead > 0 and _named(question, lexical),
    )


def _named(question: str, lexical: Sequence[Candidate]) -> bool:
    """Return whether the best document by words alone has all that the question names."""
    groups = query_terms(" ".join(names_in(question)))
    best = lexical[:1]
    second = [each for each in lexical if place_of(each)[:2] != place_of(best[0])[:2]][:1]
    return coverage(groups, best) == 1.0 > coverage(groups, second)


def confidence(groups: Groups, lexical: Sequence[Candidate], nearness: float) -> float:
    """Return how well the best passage answers, by its words or by its meaning.

    Args:
        groups: The question's words.
        lexical: The list by words, best first.
        nearness: The best cosine as a share of the model's threshold.

    """
    return min(1.0, max(coverage(groups, lexical[:1]), nearness))


def _cognates(
    question: str, lexical: Sequence[Candidate], dense: Sequence[Candidate]
) -> dict[Place, float]:
    """Return what the best of both lists have of the question; empty where none has anything."""
    both = (*dense[:_COMPARED_BY_MEANING], *lexical[:_COMPARED_BY_WORDS])
    compared = {place_of(each): each for each in both}
    scores = cognate_scores(question, list(compared.values()))
    return {place: score for place, score in zip(compared, scores, strict=True) if score > 0}
