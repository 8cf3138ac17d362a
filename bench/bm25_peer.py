"""bm25s, a BM25 that others use, with English stop words and stems: the floor for search by words.

It is measured where `bench.search_peers` finds it.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from Stemmer import Stemmer

NAME: Final = "bm25s"


def is_installed() -> bool:
    """Tell whether the package is there."""
    return find_spec(NAME) is not None


class Bm25Peer:
    """Ranks whole documents."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._bm25s: Any = import_module(NAME)
        self._stemmer = Stemmer("english")
        self._names = list(documents)
        self._index: Any = self._bm25s.BM25()
        self._index.index(self._tokens(list(documents.values())), show_progress=False)

    def ranking(self, question: str, limit: int) -> list[str]:
        """Return the names of the first documents."""
        found, scores = self._index.retrieve(
            self._tokens([question]), k=min(limit, len(self._names)), show_progress=False
        )
        pairs = zip(found[0], scores[0], strict=True)
        return [self._names[number] for number, score in pairs if score > 0]

    def _tokens(self, texts: list[str]) -> object:
        return self._bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, show_progress=False
        )
