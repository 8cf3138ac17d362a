"""Vectors kept in a file between runs, so that a set is embedded once for each model."""

import hashlib
import sqlite3
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from archivolt.ports.retrieval import Embedder, Vector

_AT_ONCE: Final = 32


class KeptVectors:
    """An `Embedder` that asks another one for what it does not know yet.

    `seconds` is how long the other one has worked so far.

    Args:
        embedder: The other one.
        file: Where vectors are kept; it is made if it is absent, and its folder.

    """

    def __init__(self, embedder: Embedder, file: Path) -> None:
        self._embedder = embedder
        self.model: str = embedder.model
        self.dimension: int = embedder.dimension
        self.threshold: float = embedder.threshold
        self.seconds = 0.0
        file.parent.mkdir(parents=True, exist_ok=True)
        self._kept = sqlite3.connect(file)
        self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, data BLOB)")

    def close(self) -> None:
        """Close the file."""
        self._kept.close()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text."""
        return self._vectors("passage", texts, self._embedder.embed_passages)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return self._vectors("query", [text], lambda _: [self._embedder.embed_query(text)])[0]

    def _vectors(
        self,
        kind: str,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Sequence[Vector]],
    ) -> list[Vector]:
        keys = {text: self._key(kind, text) for text in texts}
        unknown = [text for text, key in keys.items() if self._load(key) is None]
        for start in range(0, len(unknown), _AT_ONCE):
            part = unknown[start : start + _AT_ONCE]
            before = time.monotonic()
            vectors = embed(part)
            self.seconds += time.monotonic() - before
            rows = [
                (keys[text], array("f", vector).tobytes())
                for text, vector in zip(part, vectors, strict=True)
            ]
            with self._kept:
                self._kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        return [self._load(keys[text]) or [] for text in texts]

    def _load(self, key: bytes) -> Vector | None:
        row = self._kept.execute("SELECT data FROM vectors WHERE key = ?", (key,)).fetchone()
        return array("f", row[0]) if row else None

    def _key(self, kind: str, text: str) -> bytes:
        return hashlib.sha256(f"{self.model}\n{kind}\n{text}".encode()).digest()
