"""The child process a heavy document is read in: `python -m … FORMAT [ENGINE…]`, bytes to JSON.

It imports the reader of one format, limits its own memory and time, and only then looks at the
document. It has neither credentials nor anything else of its parent's environment.
"""

import importlib
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final

from archivolt.domain.errors import ArchivoltError, TooLargeError, UnsupportedContentError
from archivolt.domain.limits import (
    MAX_EXTRACTED_CHARS,
    MAX_EXTRACTION_BYTES,
    MAX_EXTRACTION_CPU_SECONDS,
    MAX_OCR_BYTES,
    MAX_OCR_CPU_SECONDS,
)
from archivolt.ports.ingestion import Extraction, Extractor, OcrEngine

_READERS: Final = {
    "docx": ("docx", "DocxExtractor"),
    "eml": ("mail", "MailExtractor"),
    "epub": ("epub", "EpubExtractor"),
    "image": ("image", "ImageExtractor"),
    "html": ("html_page", "HtmlExtractor"),
    "odf": ("odf", "OdfExtractor"),
    "pdf": ("pdf", "PdfExtractor"),
    "pptx": ("pptx", "PptxExtractor"),
    "xlsx": ("xlsx", "XlsxExtractor"),
}
"""The module and the class that read each format; one of them is imported."""

_WITH_PAGES: Final = frozenset(("pdf", "image"))
_ARCHIVES: Final = frozenset(("docx", "epub", "odf", "pptx", "xlsx"))


def main(form: str, engine: Sequence[str]) -> None:
    """Read the document on standard input and write what it says to standard output."""
    answer_to = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get into the answer.
    os.dup2(2, 1)
    ocr = _LateEngine(engine) if engine else None
    extractor = _extractor(form, ocr)
    roomy = ocr is not None and ocr.is_in_process
    _limit(resource.RLIMIT_AS, MAX_EXTRACTION_BYTES, last=MAX_OCR_BYTES if roomy else 0)
    cpu = MAX_OCR_CPU_SECONDS if roomy else 0
    _limit(resource.RLIMIT_CPU, MAX_EXTRACTION_CPU_SECONDS, last=cpu)
    _limit(resource.RLIMIT_CORE, 0)
    with answer_to:
        answer_to.write(json.dumps(_answer(extractor)).encode())


def _limit(kind: int, value: int, *, last: int = 0) -> None:
    """Limit what this process may take, which can be raised later up to `last`."""
    _, hard = resource.getrlimit(kind)
    bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # The hard limit of time is later, so that its signal tells what happened.
    end = max(bounded, last) + 1
    resource.setrlimit(kind, (bounded, min(end, hard) if hard > 0 else end))


class _LateEngine:
    """An `OcrEngine` that is loaded, and given the room it takes, when an image is met."""

    def __init__(self, choice: Sequence[str]) -> None:
        from archivolt.adapters.ocr.engines import EngineChoice  # noqa: PLC0415  for its format only

        self._choice = EngineChoice(*choice)
        self.is_in_process = self._choice.is_in_process
        self._loaded: OcrEngine | None = None

    def read(self, image: bytes, *, dpi: int | None = None) -> list[str]:
        if self._loaded is None:
            if self.is_in_process:
                _raise(resource.RLIMIT_AS, MAX_OCR_BYTES)
                _raise(resource.RLIMIT_CPU, MAX_OCR_CPU_SECONDS)
            self._loaded = self._load()
        return self._loaded.read(image, dpi=dpi)

    def _load(self) -> OcrEngine:
        from archivolt.adapters.ocr.engines import engine_of  # noqa: PLC0415  for its format only

        try:
            return engine_of(self._choice)
        except ImportError as error:
            # The deployment's fault: the document is not to be called broken.
            raise SystemExit(1) from error


def _raise(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (min(value, hard), hard))


def _answer(extractor: Extractor) -> dict[str, Any]:
    try:
        return asdict(_read(extractor, sys.stdin.buffer.read()))
    except MemoryError:
        return _error(TooLargeError("document_inflates"))
    except ArchivoltError as error:
        return _error(error)
    except Exception as error:  # noqa: BLE001  readers do not say what they raise
        return {**_error(UnsupportedContentError("document_broken")), "cause": _kind(error)}


def _error(error: ArchivoltError) -> dict[str, Any]:
    return {"error": type(error).__name__, "code": error.code, "details": error.details}


def _kind(error: Exception) -> str:
    """Return the kind of an error and where it came from; its message may hold content."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} in {frames[-1].name}"


def _read(extractor: Extractor, data: bytes) -> Extraction:
    extraction = extractor.extract(data, name="")
    if len(extraction.markdown) > MAX_EXTRACTED_CHARS:
        raise TooLargeError("document_too_much_text", limit=MAX_EXTRACTED_CHARS)
    return extraction


def _extractor(form: str, ocr: OcrEngine | None) -> Extractor:
    name, reader = _READERS[form]
    module = importlib.import_module(f"archivolt.adapters.extraction.{name}")
    make: Callable[..., Extractor] = getattr(module, reader)
    if form in _WITH_PAGES:
        return make(ocr)
    if form not in _ARCHIVES:
        return make()
    from archivolt.adapters.extraction.archive_images import WithImages  # noqa: PLC0415  for its format only

    return WithImages(make(), ocr)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
