"""Ranks the passages that the lists propose: looks at the question, chooses the mix, drops noise.

A passage that is far from the question still tells where it stands among the others, which orders
those that share words with the question; alone it is no answer. Pure.
"""

from collections.abc import Sequence, Set
from typing import Final

from archivolt.ports.retrieval import Candidate
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
    lexical_weight,
    needs_cognates,
    place_of,
)

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
    if max((each.score for each in dense), default=noise) < noise:
        dense = []
    covered = coverage(groups, lexical[:_CANDIDATES_THAT_TELL])
    foreign = is_foreign(question, dense[:_CANDIDATES_THAT_TELL])
    if foreign:
        # Words meet by chance there: they say nothing of the meaning.
        without_vectors = frozenset()
    # What is alike by its words is told apart by its meaning, where that is known of all of it.
    even = 0.0 if without_vectors else evenness(lexical)
    cognates = None
    if dense and needs_cognates(covered, foreign=foreign):
        cognates = _cognates(question, lexical, dense)
    if not dense:
        weight = 1.0
    elif lexical or cognates:
        weight = lexical_weight(covered, foreign=foreign, even=even)
    else:
        weight = 0.0
    ranked = [
        each
        for each in fuse(
            lexical, dense, weight=weight, cognates=cognates, without_vectors=without_vectors
        )
        if each.lexical or each.cognates or (each.dense or 0.0) >= noise
    ]
    return ranked, Weighing(
        weight=weight, coverage=covered, evenness=even, foreign=foreign, cognates=bool(cognates)
    )


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
