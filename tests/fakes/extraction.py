"""An extractor for text; a document may make it fail or crash, a test may act meanwhile."""

from typing import TYPE_CHECKING

from archivolt.domain.errors import UnavailableError, UnsupportedContentError
from archivolt.ports.ingestion import Extraction

if TYPE_CHECKING:
    from collections.abc import Callable


class ScriptedExtractor:
    """An `Extractor`: UTF-8 is text, `.png` is not, and some words are traps."""

    def __init__(self) -> None:
        self.extracted: list[str] = []
        self.meanwhile: Callable[[], object] | None = None

    def extract(self, data: bytes, *, name: str) -> Extraction:
        self.extracted.append(name)
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        if name.endswith(".png"):
            raise UnsupportedContentError("unsupported_format", name=name)
        text = data.decode()
        if "BROKEN" in text:
            raise UnsupportedContentError("document_broken", name=name)
        if "CRASH" in text:
            raise RecursionError
        if "DOWN" in text:
            raise UnavailableError("unavailable")
        return Extraction(markdown=text, title=name.partition(".")[0])
