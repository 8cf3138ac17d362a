"""What is remembered of words is bounded by its size: an index of any length is made in it."""

import tracemalloc
from collections.abc import Iterator

from archivolt.retrieval.analysis import terms
from archivolt.retrieval.tokens import token_upper_bound

WARM = 18_000
MORE = 8_000
MOST_GROWTH = 2_500_000


def words(start: int, count: int) -> Iterator[str]:
    return (f"word{number:x}" for number in range(start, start + count))


def unspaced(count: int) -> Iterator[str]:
    """Sentences of scripts without spaces, none twice: each has forty terms."""
    return (
        "".join(chr(0x4E00 + (31 * n + 7 * i) % 20_000) for i in range(20)) for n in range(count)
    )


def test_new_words_and_sentences_take_the_place_of_older_ones() -> None:
    tracemalloc.start()
    try:
        for word in words(0, WARM):
            terms(word)
            token_upper_bound(word)
        warm, _ = tracemalloc.get_traced_memory()
        for word in words(WARM, MORE):
            terms(word)
            token_upper_bound(word)
        for sentence in unspaced(1_000):
            terms(sentence)
            token_upper_bound(sentence)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held - warm < MOST_GROWTH
