"""What is known of embedding models by their names: lengths, thresholds, what they want in front.

Thresholds: bge-m3's 0.65 is the product's own (decision 29), e5's was measured as the embedded
model's (see `local_e5`). Nobody has measured the others here: they take `UNMEASURED_THRESHOLD`,
which a deployment replaces by its own.
"""

from dataclasses import dataclass
from typing import Final

UNMEASURED_THRESHOLD: Final = 0.5
# The context of the smallest models in use; a longer text is embedded in pieces.
_LEAST_CONTEXT: Final = 512
# The version of what is done to a text before it is sent and to a vector after it has come.
_TRANSFORM: Final = 1


# Measured with the small one, see `local_e5`; e5's texts are all near each other.
E5_THRESHOLD: Final = 0.82


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """A model as a provider serves it: `max_tokens` a text, prefixes in front of each text."""

    provider: str
    name: str
    dimension: int
    threshold: float = UNMEASURED_THRESHOLD
    max_tokens: int = _LEAST_CONTEXT
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def id(self) -> str:
        """The id under which its vectors are kept: vectors of two ids are never compared."""
        return f"{self.provider}:{self.name}@{self.dimension}/{_TRANSFORM}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """What a name tells; a dimension of 0 is not told."""

    dimension: int = 0
    threshold: float = UNMEASURED_THRESHOLD
    max_tokens: int = _LEAST_CONTEXT
    query_prefix: str = ""
    passage_prefix: str = ""


def _e5(dimension: int) -> KnownModel:
    return KnownModel(
        dimension=dimension,
        threshold=E5_THRESHOLD,
        query_prefix="query: ",
        passage_prefix="passage: ",
    )


_KNOWN: Final = {
    "bge-m3": KnownModel(dimension=1024, threshold=0.65, max_tokens=8_192),
    "multilingual-e5-small": _e5(384),
    "multilingual-e5-base": _e5(768),
    "multilingual-e5-large": _e5(1024),
    "text-embedding-3-small": KnownModel(dimension=1536, max_tokens=8_192),
    "text-embedding-3-large": KnownModel(dimension=3072, max_tokens=8_192),
    "text-embedding-ada-002": KnownModel(dimension=1536, max_tokens=8_192),
    "mistral-embed": KnownModel(dimension=1024, max_tokens=8_192),
}


def known_model(name: str) -> KnownModel:
    """Return what is known of a model, whoever publishes it (`BAAI/bge-m3`, `bge-m3:latest`)."""
    own = name.lower().rpartition("/")[2].partition(":")[0]
    return _KNOWN.get(own, KnownModel())
