"""rapidocr 3.10, as far as the product uses it; the package itself is installed by choice."""

from collections.abc import Mapping, Sequence

from PIL.Image import Image

class _Output:
    txts: Sequence[str] | None
    scores: Sequence[float]
    boxes: Sequence[Sequence[tuple[float, float]]] | None

class RapidOCR:
    def __init__(self, *, params: Mapping[str, object]) -> None: ...
    def __call__(self, image: Image) -> _Output: ...
