"""The child process a heavy document is read in: `python -m … FORMAT`, bytes in, JSON out.

It imports the reader of one format, limits its own memory and time, and only then looks at the
document. It has neither credentials nor anything else of its parent's environment.
"""

import importlib
import json
import os
import resource
import sys
import traceback
from dataclasses import asdict
from typing import Any, Final

from archivolt.domain.errors import ArchivoltError, TooLargeError, UnsupportedContentError
from archivolt.domain.limits import (
    MAX_EXTRACTED_CHARS,
    MAX_EXTRACTION_BYTES,
    MAX_EXTRACTION_CPU_SECONDS,
)
from archivolt.ports.ingestion import Extraction, Extractor

_READERS: Final = {
    "docx": ("docx", "DocxExtractor"),
    "eml": ("mail", "MailExtractor"),
    "epub": ("epub", "EpubExtractor"),
    "html": ("html_page", "HtmlExtractor"),
    "odf": ("odf", "OdfExtractor"),
    "pdf": ("pdf", "PdfExtractor"),
    "pptx": ("pptx", "PptxExtractor"),
    "xlsx": ("xlsx", "XlsxExtractor"),
}
"""The module and the class that read each format; one of them is imported."""


def main(form: str) -> None:
    """Read the document on standard input and write what it says to standard output."""
    answer_to = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get into the answer.
    os.dup2(2, 1)
    extractor = _extractor(form)
    _limit(resource.RLIMIT_AS, MAX_EXTRACTION_BYTES)
    _limit(resource.RLIMIT_CPU, MAX_EXTRACTION_CPU_SECONDS)
    _limit(resource.RLIMIT_CORE, 0)
    with answer_to:
        answer_to.write(json.dumps(_answer(extractor)).encode())


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # The hard limit of time is later, so that its signal tells what happened.
    resource.setrlimit(kind, (bounded, min(bounded + 1, hard) if hard > 0 else bounded + 1))


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


def _extractor(form: str) -> Extractor:
    module, name = _READERS[form]
    return getattr(importlib.import_module(f"archivolt.adapters.extraction.{module}"), name)()


if __name__ == "__main__":
    main(sys.argv[1])
