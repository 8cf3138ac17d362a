"""Texts in the amounts that a provider takes: nothing is cut off, nothing is too much."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

CountTokens = Callable[[str], int]

_WORD: Final = re.compile(r"\s*\S+")


def pieces_within(text: str, *, max_tokens: int, count: CountTokens) -> list[str]:
    """Return a text as it is, or in pieces of words that each fit; a longer word is halved."""
    if count(text) <= max_tokens or len(text) <= 1:
        return [text]
    words = _WORD.findall(text)
    middle = len("".join(words[: len(words) // 2])) or len(text) // 2
    return [
        piece
        for half in (text[:middle], text[middle:])
        for piece in pieces_within(half, max_tokens=max_tokens, count=count)
    ]


def batches(
    texts: Sequence[str], *, max_texts: int, max_tokens: int, count: CountTokens
) -> Iterator[list[str]]:
    """Yield the texts in order, as many at a time as both bounds allow, and at least one."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        more = count(text)
        if batch and (len(batch) >= max_texts or tokens + more > max_tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += more
    if batch:
        yield batch
