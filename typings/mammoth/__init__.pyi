"""mammoth 1.13, as far as the product uses it."""

from collections.abc import Callable
from typing import BinaryIO

class _Result:
    value: str

def convert_to_html(
    fileobj: BinaryIO, *, convert_image: Callable[..., object], style_map: str
) -> _Result: ...
