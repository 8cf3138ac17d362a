"""What is known of providers' models: what they can do, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from archivolt.domain.usage import ModelPrice


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCapabilities:
    """What a model can do (O78)."""

    chat: bool = False
    embeddings: bool = False
    rerank: bool = False
    images: bool = False
    video: bool = False
    audio_speech: bool = False
    audio_transcription: bool = False
    vision: bool = False


class ModelCatalogue(Protocol):
    """Knows models by their names."""

    def capabilities(self, provider: str, model: str) -> ModelCapabilities:
        """Return what a model can do; of an unknown one only that it chats."""
        ...

    def context_tokens(self, provider: str, model: str) -> int:
        """Return how many tokens a model takes, question and answer; of an unknown one, a guess."""
        ...

    def models(self, provider: str) -> Mapping[str, ModelCapabilities]:
        """Return the models of a provider that people choose from, the best known first."""
        ...

    def price(self, provider: str, model: str) -> ModelPrice:
        """Return what a model costs.

        Raises:
            InvalidRequestError: `model_price_unknown`: never free (decision 23).

        """
        ...
