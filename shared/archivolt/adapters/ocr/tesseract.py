"""Reads images with Tesseract, the program; it decides itself what an image file is."""

import csv
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

from archivolt.adapters.ocr.paragraphs import as_markdown
from archivolt.domain.errors import UnsupportedContentError
from archivolt.domain.limits import MAX_OCR_IMAGE_SECONDS

_WORD: Final = "5"
# What Tesseract sees in photographs and textures: it is less sure of it than of any printed word.
_MIN_WORD_CONFIDENCE: Final = 20.0
_MIN_PAGE_CONFIDENCE: Final = 45.0


class Tesseract:
    """An `OcrEngine` that runs a program, on one thread.

    Args:
        program: Where it is.
        languages: Whose models it loads, joined by `+`; the first one counts most.
        data: The folder of its models, "" for its own.

    """

    def __init__(self, program: str, *, languages: str, data: str = "") -> None:
        self._command = [program, "stdin", "stdout", "-l", languages]
        if data:
            self._command += ["--tessdata-dir", data]
        # One that is not installed for the whole system has its libraries beside it.
        libraries = str(Path(program).parent.parent / "lib")
        self._environment = {"OMP_THREAD_LIMIT": "1", "LD_LIBRARY_PATH": libraries}

    def read(self, image: bytes, *, dpi: int | None = None) -> list[str]:
        """Return the text of each page of an image, as Markdown.

        Raises:
            UnsupportedContentError: `document_broken` or `document_too_slow`.

        """
        resolution = ["--dpi", str(dpi)] if dpi else []
        try:
            ended = subprocess.run(  # noqa: S603  no part of the command comes from outside
                [*self._command, *resolution, "-c", "tessedit_create_tsv=1"],
                input=image,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
                timeout=MAX_OCR_IMAGE_SECONDS,
                check=True,
            )
        except subprocess.TimeoutExpired as error:
            raise UnsupportedContentError("document_too_slow") from error
        except subprocess.CalledProcessError as error:
            raise UnsupportedContentError("document_broken") from error
        return list(_pages(ended.stdout.decode("utf-8", "replace")))


@dataclass(frozen=True, slots=True)
class _Word:
    page: int
    paragraph: tuple[str, ...] = field(compare=False)
    line: str
    confidence: float
    text: str


def _pages(table: str) -> Iterator[str]:
    """Yield each page; one of words it is not sure of has none."""
    rows = list(csv.DictReader(StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE))
    words = [_word(row) for row in rows if row["level"] == _WORD and row["text"].strip()]
    last = max((int(row["page_num"]) for row in rows), default=0)
    by_page = {page: list(found) for page, found in groupby(words, attrgetter("page"))}
    for page in range(1, last + 1):
        found = by_page.get(page, [])
        yield as_markdown(_paragraphs(found)) if _is_sure(found) else ""


def _word(row: dict[str, str]) -> _Word:
    return _Word(
        page=int(row["page_num"]),
        paragraph=(row["block_num"], row["par_num"]),
        line=row["line_num"],
        confidence=float(row["conf"]),
        text=row["text"],
    )


def _is_sure(words: Sequence[_Word]) -> bool:
    letters = sum(len(word.text) for word in words)
    sure = sum(len(word.text) * word.confidence for word in words)
    return letters > 0 and sure / letters >= _MIN_PAGE_CONFIDENCE


def _paragraphs(words: Iterable[_Word]) -> Iterator[list[str]]:
    """Yield the lines of each paragraph."""
    kept = (word for word in words if word.confidence >= _MIN_WORD_CONFIDENCE)
    for _, paragraph in groupby(kept, attrgetter("paragraph")):
        yield [
            " ".join(word.text for word in line)
            for _, line in groupby(paragraph, attrgetter("line"))
        ]
