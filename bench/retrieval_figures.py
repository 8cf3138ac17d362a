"""How good a ranking is: nDCG@10 by graded relevance, recall@10 and MRR@10, as in trec_eval."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

CUT: Final = 10


class Figures(NamedTuple):
    """The means over the questions of a set."""

    ndcg: float
    recall: float
    mrr: float
    milliseconds: float


def figures_of(
    ranking_of: Callable[[str], Sequence[str]],
    *,
    questions: Mapping[str, str],
    relevant: Mapping[str, Mapping[str, float]],
) -> Figures:
    """Return the figures of a way to rank.

    Args:
        ranking_of: Returns the ids of documents for a question, best first.
        questions: Each by its id. A document of that id which is not judged is the question itself
            (as in ArguAna), and is passed over.
        relevant: The relevance of documents to each.

    """
    sums = [0.0, 0.0, 0.0]
    started = time.perf_counter()
    for key, text in questions.items():
        wanted = relevant[key]
        found = [did for did in ranking_of(text) if did != key or did in wanted][:CUT]
        for number, figure in enumerate((_ndcg, _recall, _reciprocal_rank)):
            sums[number] += figure(found, wanted)
    count = len(questions) or 1
    ndcg, recall, mrr = (total / count for total in sums)
    return Figures(ndcg, recall, mrr, (time.perf_counter() - started) * 1_000 / count)


def _ndcg(ranking: Sequence[str], wanted: Mapping[str, float]) -> float:
    ideal = sorted(wanted.values(), reverse=True)[:CUT]
    return _gain([wanted.get(did, 0.0) for did in ranking]) / (_gain(ideal) or 1.0)


def _gain(relevances: Sequence[float]) -> float:
    # A judgement below 0 says spam: no gain, no loss.
    return sum(max(0.0, value) / math.log2(rank + 2) for rank, value in enumerate(relevances))


def _recall(ranking: Sequence[str], wanted: Mapping[str, float]) -> float:
    positive = {did for did, relevance in wanted.items() if relevance > 0}
    return len(positive & set(ranking)) / (len(positive) or 1)


def _reciprocal_rank(ranking: Sequence[str], wanted: Mapping[str, float]) -> float:
    ranks = [rank for rank, did in enumerate(ranking, start=1) if wanted.get(did, 0.0) > 0]
    return 1 / ranks[0] if ranks else 0.0
