"""An embedding model behind a provider's address."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from archivolt.adapters.embedding.calls import EmbeddingCalls, Patience
from archivolt.adapters.embedding.models import EmbeddingModel
from archivolt.adapters.embedding.pieces import CountTokens, batches, pieces_within
from archivolt.adapters.embedding.protocols import EmbeddingProtocol
from archivolt.adapters.embedding.vectors import checked_vectors, mean_vector
from archivolt.domain.errors import UnavailableError
from archivolt.domain.redaction import redact
from archivolt.observability import logger
from archivolt.ports.retrieval import Vector

# Passages can wait: what fails comes again from the queue. A person waits for a question.
_PAUSES_FOR_PASSAGES: Final = (0.5, 2.0, 6.0)
_SECONDS_FOR_PASSAGES: Final = 15.0
_ANSWER_SECONDS_FOR_PASSAGES: Final = 20.0
_PAUSES_FOR_A_QUESTION: Final = (0.3,)
_SECONDS_FOR_A_QUESTION: Final = 1.0
_ANSWER_SECONDS_FOR_A_QUESTION: Final = 6.0


# Takes the texts that are sent, what makes the call, and what reads from an answer how many tokens
# it took; returns the answer.
Pay = Callable[[Sequence[str], Callable[[], object], Callable[[object], int]], object]


def _paid_already(
    texts: Sequence[str],  # noqa: ARG001  they are paid for
    ask: Callable[[], object],
    used: Callable[[object], int],  # noqa: ARG001  likewise
) -> object:
    return ask()


class RemoteEmbedder:
    """An `Embedder` over HTTP.

    Args:
        calls: Reach the provider.
        protocol: How it is asked.
        model: What it is asked for.
        count: Tells how many tokens a text has at most.
        pay: Pays for each attempt; None: whoever asks has paid.

    """

    def __init__(
        self,
        calls: EmbeddingCalls,
        protocol: EmbeddingProtocol,
        model: EmbeddingModel,
        *,
        count: CountTokens,
        pay: Pay | None = None,
    ) -> None:
        self._calls = calls
        self._protocol = protocol
        self._model = model
        self._count = count
        self._pay = pay or _paid_already
        self.model: str = model.id
        self.dimension: int = model.dimension
        self.threshold: float = model.threshold

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text."""
        patience = Patience(
            _PAUSES_FOR_PASSAGES,
            seconds=_SECONDS_FOR_PASSAGES,
            answer_seconds=_ANSWER_SECONDS_FOR_PASSAGES,
        )
        return self._embed(texts, self._model.passage_prefix, patience)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        patience = Patience(
            _PAUSES_FOR_A_QUESTION,
            seconds=_SECONDS_FOR_A_QUESTION,
            answer_seconds=_ANSWER_SECONDS_FOR_A_QUESTION,
            connects_once=True,
        )
        # Passages come without secrets; a person may have pasted one.
        return self._embed([redact(text).text], self._model.query_prefix, patience)[0]

    def _embed(self, texts: Sequence[str], prefix: str, patience: Patience) -> list[Vector]:
        """Return the vectors; equal texts are sent once, one that is too long in pieces."""
        room = self._model.max_tokens - self._count(prefix)
        pieces = {
            text: [
                f"{prefix}{piece}"
                for piece in pieces_within(text, max_tokens=room, count=self._count)
            ]
            for text in texts
        }
        distinct = dict.fromkeys(piece for each in pieces.values() for piece in each)
        vectors = dict(zip(distinct, self._sent(list(distinct), patience), strict=True))
        return [mean_vector([vectors[piece] for piece in pieces[text]]) for text in texts]

    def _sent(self, texts: Sequence[str], patience: Patience) -> list[Vector]:
        vectors: list[Vector] = []
        for batch in batches(
            texts,
            max_texts=self._protocol.max_texts,
            max_tokens=self._protocol.max_tokens,
            count=self._count,
        ):
            pay = partial(self._paid, batch)
            answer = self._calls.ask(self._protocol.question(batch), patience, pay)
            vectors += self._checked(answer, len(batch))
        return vectors

    def _paid(self, texts: Sequence[str], attempt: Callable[[], object]) -> object:
        return self._pay(texts, attempt, self._protocol.tokens_used)

    def _checked(self, answer: object, count: int) -> list[Vector]:
        try:
            rows = self._protocol.vectors(answer)
            return checked_vectors(rows, count=count, dimension=self.dimension)
        except UnavailableError:
            logger.error(
                "an embedding provider gave other vectors than were asked for",
                extra={"model": self.model, "dimension": self.dimension},
            )
            raise
