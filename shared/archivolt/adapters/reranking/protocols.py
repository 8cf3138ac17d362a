"""How kinds of servers are asked to rerank, and how their answers are read.

`rerank` is what Cohere began and Jina, vLLM, LiteLLM and others speak: `documents` in, `results`
with `index` and `relevance_score` out. Text Embeddings Inference names both otherwise, and so does
Cloudflare Workers AI. Scores come in any order, and some servers leave out the worst.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeGuard

from archivolt.adapters.streaming.json_values import an_object, objects
from archivolt.domain.errors import UnavailableError
from archivolt.domain.tool import JsonObject


class RerankProtocol(Protocol):
    """One way to ask."""

    def question(self, question: str, texts: Sequence[str]) -> JsonObject:
        """Return the body of a request."""
        ...

    def scores(self, answer: object) -> Mapping[int, float]:
        """Return the score of each text by its number.

        Raises:
            UnavailableError: `unavailable`: it is no such answer.

        """
        ...


class CohereRerank:
    """`POST /rerank` as Cohere has defined it, of whichever server."""

    def __init__(self, model: str) -> None:
        self._model = model

    def question(self, question: str, texts: Sequence[str]) -> JsonObject:
        """Return the body of a request."""
        return {
            "model": self._model,
            "query": question,
            "documents": list(texts),
            "top_n": len(texts),
        }

    def scores(self, answer: object) -> Mapping[int, float]:
        """Return the scores in `results`."""
        return _scores(an_object(answer).get("results"), number="index", score="relevance_score")


class TeiRerank:
    """`POST /rerank` of Text Embeddings Inference; a text that is too long is cut by the server."""

    def question(self, question: str, texts: Sequence[str]) -> JsonObject:
        """Return the body of a request."""
        return {"query": question, "texts": list(texts), "raw_scores": False, "truncate": True}

    def scores(self, answer: object) -> Mapping[int, float]:
        """Return the scores in the list that the answer is."""
        return _scores(answer, number="index", score="score")


class WorkersAIRerank:
    """Cloudflare Workers AI: `POST /accounts/{account}/ai/run/{model}`."""

    def question(self, question: str, texts: Sequence[str]) -> JsonObject:
        """Return the body of a request."""
        contexts = [{"text": text} for text in texts]
        return {"query": question, "contexts": contexts, "top_k": len(texts)}

    def scores(self, answer: object) -> Mapping[int, float]:
        """Return the scores in `result.response`."""
        told = an_object(an_object(answer).get("result")).get("response")
        return _scores(told, number="id", score="score")


_MISSING: Final = "unavailable"


def _scores(rows: object, *, number: str, score: str) -> Mapping[int, float]:
    found: dict[int, float] = {}
    for row in objects(rows):
        place, value = row.get(number), row.get(score)
        if not isinstance(place, int) or isinstance(place, bool) or not _is_finite(value):
            raise UnavailableError(_MISSING)
        found[place] = value
    if not found:
        raise UnavailableError(_MISSING)
    return found


def _is_finite(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value)
