"""Has a model read the best passages with the question and order them anew.

It reads both together, and so knows better than either list; it is slow, so it reads the best only.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from archivolt.domain.identity import TenantId
from archivolt.ports.retrieval import Candidate, Reranker
from archivolt.retrieval.fusion import Ranked

_READ: Final = 30


def no_reranker(_: TenantId) -> Reranker | None:
    """Say that the order of the lists is the last word."""
    return None


def reranked(question: str, ranked: Sequence[Ranked], reranker: Reranker) -> list[Ranked]:
    """Return the passages in the model's order, then those it left out or was not asked for.

    A score is the model's where that is between 0 and 1, else the logistic function of it. No later
    passage has a higher one.

    Raises:
        UnavailableError: The model does not answer.

    """
    read, rest = ranked[:_READ], list(ranked[_READ:])
    if not read:
        return rest
    scores = reranker.rerank(question, [_shown(each.candidate) for each in read])
    told = [(score, each) for score, each in zip(scores, read, strict=True) if score is not None]
    left_out = [each for score, each in zip(scores, read, strict=True) if score is None]
    told.sort(key=lambda pair: -pair[0])
    are_shares = all(0 <= score <= 1 for score, _ in told)
    first = [
        replace(each, score=score if are_shares else _logistic(score), reranked=score)
        for score, each in told
    ]
    least = first[-1].score if first else 1.0
    return [*first, *(replace(each, score=min(least, each.score)) for each in (*left_out, *rest))]


def _shown(candidate: Candidate) -> str:
    return "\n".join([*candidate.passage.headings, candidate.passage.text])


def _logistic(score: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, score))))
