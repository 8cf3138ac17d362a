from collections.abc import Iterator as Iterable

from PIL.Image import Image

def Iterator(image: Image) -> Iterable[Image]: ...  # noqa: N802
