from io import BytesIO
from types import TracebackType
from typing import Self

class Image:
    def convert(self, mode: str) -> Image: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def open(file: BytesIO) -> Image: ...  # noqa: A001
