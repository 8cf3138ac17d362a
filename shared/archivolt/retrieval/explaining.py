"""Says of a passage that was found where it stood in each list, and what decided between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.fusion import Ranked, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """How much the words were worth in the mix, and the things that this follows.

    `lead`: how far the best document is ahead by its words, where the question is foreign.
    `cognates`: whether what the languages write alike counted among them.
    """

    weight: float
    coverage: float
    evenness: float = 0.0
    lead: float = 0.0
    foreign: bool = False
    cognates: bool = False


def explanation(
    ranked: Ranked,
    lexical: Sequence[Candidate],
    dense: Sequence[Candidate],
    weighing: Weighing | None,
) -> dict[str, Any]:
    """Return the score and rank (from 1) in each list, None where it has none, and the weighing.

    Args:
        ranked: A passage that was found.
        lexical: The list by words, best first.
        dense: The list by meaning, best first.
        weighing: How the lists were mixed; None if they were not.

    """
    told: dict[str, Any] = {
        "lexical": ranked.lexical,
        "lexical_rank": _rank(ranked.candidate, lexical),
        "dense": ranked.dense,
        "dense_rank": _rank(ranked.candidate, dense),
    }
    if weighing is not None:
        told |= {
            "lexical_weight": round(weighing.weight, 3),
            "coverage": round(weighing.coverage, 3),
            "evenness": round(weighing.evenness, 3),
            "foreign_language": weighing.foreign,
        }
        if weighing.foreign:
            told["lead"] = round(weighing.lead, 3)
        if weighing.cognates:
            told["cognates"] = round(ranked.cognates, 3)
        if ranked.words_for_meaning:
            told["words_for_meaning"] = True
    if ranked.reranked is not None:
        told["reranked"] = ranked.reranked
    return told


def _rank(candidate: Candidate, listed: Sequence[Candidate]) -> int | None:
    place = place_of(candidate)
    return next((rank for rank, each in enumerate(listed, 1) if place_of(each) == place), None)
