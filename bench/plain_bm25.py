"""BM25 over whole documents by their lower-cased words: what search by words has to beat."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

NAME: Final = "BM25"
_WORD: Final = re.compile(r"\w+")
# As Lucene has them.
_SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.75


class PlainBm25:
    """Ranks whole documents: no stems, no stop words."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._names = list(documents)
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths: list[int] = []
        for number, text in enumerate(documents.values()):
            counts = Counter(_words(text))
            lengths.append(counts.total())
            for word, times in counts.items():
                self._postings[word].append((number, times))
        mean = sum(lengths) / (len(lengths) or 1) or 1.0
        self._dampers = [
            _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / mean) for length in lengths
        ]

    def ranking(self, question: str, limit: int) -> list[str]:
        """Return the names of the first documents."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in set(_words(question)):
            having = self._postings.get(word, [])
            rarity = math.log(1 + (len(self._names) - len(having) + 0.5) / (len(having) + 0.5))
            for number, times in having:
                scores[number] += rarity * times / (times + self._dampers[number])
        best = sorted(scores, key=lambda number: (-scores[number], number))[:limit]
        return [self._names[number] for number in best]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
