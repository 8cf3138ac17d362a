"""A provider asked with a tenant's key: for one call, and not again with one it refused."""

import pytest

from archivolt.adapters.embedding.keyed import KeyedEmbedder, RefusedKeys
from archivolt.domain.embedding_key import EmbeddingKey
from archivolt.domain.errors import UnavailableError
from archivolt.domain.limits import REFUSED_KEY_SECONDS
from archivolt.ports.retrieval import Embedder
from tests.fakes.clock import FrozenClock
from tests.fakes.vectors import WordHashEmbedder

GOOD, REVOKED = EmbeddingKey(key="good"), EmbeddingKey(key="revoked")


class Provider:
    """Answers to a good key, and notes with which it was asked."""

    def __init__(self, code: str = "embedding_key_refused") -> None:
        self.asked: list[str] = []
        self._code = code

    def connect(self, key: EmbeddingKey) -> Embedder:
        self.asked.append(key.key)
        if key.key == "good":
            return WordHashEmbedder()
        raise UnavailableError(self._code)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


def embedder(provider: Provider, keys: list[EmbeddingKey], refused: RefusedKeys) -> KeyedEmbedder:
    """Return a tenant's embedder whose key is the next of some, and then the last."""
    return KeyedEmbedder(
        WordHashEmbedder(),
        lambda: keys.pop(0) if len(keys) > 1 else keys[0],
        provider.connect,
        refused,
    )


def test_it_is_the_model_that_it_was_described_as(clock: FrozenClock) -> None:
    made = embedder(Provider(), [GOOD], RefusedKeys(clock))
    known = WordHashEmbedder()
    assert (made.model, made.dimension, made.threshold) == (
        known.model,
        known.dimension,
        known.threshold,
    )
    assert made.embed_passages(["llamas"]) == [known.embed_query("llamas")]


def test_the_key_is_asked_for_at_each_call(clock: FrozenClock) -> None:
    provider = Provider()
    other = EmbeddingKey(key="good", account="another")
    made = embedder(provider, [GOOD, REVOKED, other], RefusedKeys(clock))
    made.embed_query("one")
    with pytest.raises(UnavailableError, match="embedding_key_refused"):
        made.embed_query("two")
    made.embed_query("three")
    assert provider.asked == ["good", "revoked", "good"]


def test_a_refused_key_is_tried_again_after_a_while_whoever_asks(clock: FrozenClock) -> None:
    provider, refused = Provider(), RefusedKeys(clock)
    one, other = (embedder(provider, [REVOKED], refused) for _ in range(2))
    for made in (one, other, one):
        with pytest.raises(UnavailableError, match="embedding_key_refused"):
            made.embed_query("llamas")
    assert provider.asked == ["revoked"]
    clock.advance(seconds=REFUSED_KEY_SECONDS)
    with pytest.raises(UnavailableError, match="embedding_key_refused"):
        one.embed_query("llamas")
    assert provider.asked == ["revoked", "revoked"]


def test_the_same_key_for_another_account_is_another_key(clock: FrozenClock) -> None:
    provider, refused = Provider(), RefusedKeys(clock)
    elsewhere = EmbeddingKey(key="revoked", account="another")
    for key in (REVOKED, elsewhere):
        with pytest.raises(UnavailableError):
            embedder(provider, [key], refused).embed_query("llamas")
    assert provider.asked == ["revoked", "revoked"]


def test_a_provider_that_is_down_has_refused_nothing(clock: FrozenClock) -> None:
    provider = Provider("unavailable")
    made = embedder(provider, [REVOKED], RefusedKeys(clock))
    for _ in range(2):
        with pytest.raises(UnavailableError, match="unavailable"):
            made.embed_query("llamas")
    assert len(provider.asked) == 2
