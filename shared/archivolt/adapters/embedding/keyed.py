"""A model whose provider is asked with the key of one tenant.

The key is asked for at each call and let go with it. One that the provider refused is not sent
again for a while, whoever asks: what waits for it would else knock with every document.
"""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from archivolt.domain.embedding_key import EmbeddingKey
from archivolt.domain.errors import UnavailableError
from archivolt.domain.limits import REFUSED_KEY_SECONDS
from archivolt.ports.clock import Clock
from archivolt.ports.retrieval import Embedder, Vector

_REFUSED = "embedding_key_refused"

T = TypeVar("T")


class RefusedKeys:
    """Which keys a provider refused a short while ago, by digest, in one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, datetime] = {}

    def add(self, key: EmbeddingKey) -> None:
        """Note that a key was refused just now."""
        now = self._clock.now()
        self._until = {known: until for known, until in self._until.items() if until > now}
        self._until[_digest(key)] = now + timedelta(seconds=REFUSED_KEY_SECONDS)

    def __contains__(self, key: EmbeddingKey) -> bool:
        """Tell whether a key need not be tried."""
        until = self._until.get(_digest(key))
        return until is not None and until > self._clock.now()


class KeyedEmbedder:
    """An `Embedder` for one tenant.

    Args:
        described: The same model, whoever asks it.
        key: Returns the tenant's key.
        connect: Returns the model as it answers to a key.
        refused: What every tenant's embedder of this provider knows of its refusals.

    """

    def __init__(
        self,
        described: Embedder,
        key: Callable[[], EmbeddingKey],
        connect: Callable[[EmbeddingKey], Embedder],
        refused: RefusedKeys,
    ) -> None:
        self.model: str = described.model
        self.dimension: int = described.dimension
        self.threshold: float = described.threshold
        self._key = key
        self._connect = connect
        self._refused = refused

    def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector per text."""
        return self._asked(lambda embedder: embedder.embed_passages(texts))

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return self._asked(lambda embedder: embedder.embed_query(text))

    def _asked(self, question: Callable[[Embedder], T]) -> T:
        key = self._key()
        if key in self._refused:
            raise UnavailableError("embedding_key_refused")
        try:
            return question(self._connect(key))
        except UnavailableError as error:
            if error.code == _REFUSED:
                self._refused.add(key)
            raise


def _digest(key: EmbeddingKey) -> str:
    return hashlib.sha256(f"{key.account} {key.key}".encode()).hexdigest()
