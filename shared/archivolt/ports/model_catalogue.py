"""What is known of providers' models: what they can do, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

_MILLION = 1_000_000


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """US dollars for a million tokens."""

    input: Decimal
    output: Decimal

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return what a call costs, exactly."""
        return (self.input * input_tokens + self.output * output_tokens) / _MILLION


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
