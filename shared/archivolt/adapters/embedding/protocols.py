"""How two kinds of provider are asked for vectors, and how their answers are read.

Both bounds of a request are below what the providers state: Workers AI takes 100 texts and 60,000
tokens with bge-m3, OpenAI 2,048 and 300,000; servers that speak its protocol take as few as 32
texts (Text Embeddings Inference) or 16,384 tokens (Mistral).
"""

from collections.abc import Sequence
from typing import Final, Protocol, cast

from archivolt.adapters.streaming.json_values import an_object, objects
from archivolt.domain.errors import UnavailableError
from archivolt.domain.tool import JsonObject

# The models of OpenAI that can be asked for shorter vectors; elsewhere the word may be refused.
_SHORTENED: Final = "text-embedding-3"


class EmbeddingProtocol(Protocol):
    """One way to ask: how much at a time, in which words."""

    max_texts: int
    max_tokens: int

    def question(self, texts: Sequence[str]) -> JsonObject:
        """Return the body of a request."""
        ...

    def vectors(self, answer: object) -> list[object]:
        """Return what the answer gives for each text, in their order.

        Raises:
            UnavailableError: `unavailable`: it is no such answer.

        """
        ...

    def tokens_used(self, answer: object) -> int:
        """Return how many tokens the answer says it took, 0 if it says nothing."""
        ...


class WorkersAI:
    """Cloudflare Workers AI: `POST /accounts/{account}/ai/run/{model}`."""

    max_texts: int = 96
    max_tokens: int = 48_000

    def question(self, texts: Sequence[str]) -> JsonObject:
        """Return the body of a request; a text that is too long is to be an error."""
        return {"text": list(texts), "truncate_inputs": False}

    def vectors(self, answer: object) -> list[object]:
        """Return the rows of `result.data`."""
        return _rows(an_object(an_object(answer).get("result")).get("data"))

    def tokens_used(self, answer: object) -> int:
        """Return `result.usage.prompt_tokens`, where a model tells it."""
        return _tokens(an_object(answer).get("result"))


class OpenAIEmbeddings:
    """`POST /embeddings` as OpenAI has defined it, of whichever server."""

    max_texts: int = 32
    max_tokens: int = 16_000

    def __init__(self, model: str, dimension: int) -> None:
        self._asked: JsonObject = {"model": model, "encoding_format": "float"}
        if model.startswith(_SHORTENED):
            self._asked["dimensions"] = dimension

    def question(self, texts: Sequence[str]) -> JsonObject:
        """Return the body of a request."""
        return {**self._asked, "input": list(texts)}

    def vectors(self, answer: object) -> list[object]:
        """Return the vectors by their `index`; some servers leave it out, and keep the order."""
        entries = objects(an_object(answer).get("data"))
        places = [entry.get("index", place) for place, entry in enumerate(entries)]
        by_place = dict(zip(map(str, places), entries, strict=True))
        wanted = [str(place) for place in range(len(entries))]
        if sorted(by_place) != sorted(wanted):
            raise UnavailableError("unavailable")
        return [by_place[place].get("embedding") for place in wanted]

    def tokens_used(self, answer: object) -> int:
        """Return `usage.prompt_tokens`."""
        return _tokens(answer)


def _tokens(holder: object) -> int:
    told = an_object(an_object(holder).get("usage")).get("prompt_tokens")
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else 0


def _rows(value: object) -> list[object]:
    if not isinstance(value, list):
        raise UnavailableError("unavailable")
    return cast("list[object]", value)
