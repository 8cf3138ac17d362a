"""Which engine reads images here: what was chosen, or the first one that is installed."""

import importlib.util
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Final

from archivolt.ports.ingestion import OcrEngine

AUTO: Final = "auto"
TESSERACT: Final = "tesseract"
RAPIDOCR: Final = "rapidocr"
_PACKAGES: Final = ("rapidocr", "onnxruntime")
_LANGUAGES: Final = ("fra", "eng")
_LIST_SECONDS: Final = 20


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine that is installed, in words that a command line can carry.

    `program`, `languages` (joined by `+`) and `data` (the folder of its models, "" for its own) are
    of Tesseract.
    """

    engine: str
    program: str = ""
    languages: str = ""
    data: str = ""

    @property
    def is_in_process(self) -> bool:
        """Whether it takes memory and time of the process that asks it."""
        return self.engine == RAPIDOCR

    def arguments(self) -> list[str]:
        """Return the choice as the arguments of a command."""
        return [self.engine, self.program, self.languages, self.data]


def find_engine(wanted: str = AUTO, *, data: str = "") -> EngineChoice | None:
    """Return the wanted engine, if it is installed and knows French or English; None else.

    Args:
        wanted: `auto`, `tesseract`, `rapidocr`, or another word for none.
        data: The folder of Tesseract's models, "" for its own.

    """
    if wanted in {AUTO, TESSERACT}:
        program = shutil.which(TESSERACT) or ""
        languages = "+".join(_languages(program, data)) if program else ""
        if languages:
            return EngineChoice(TESSERACT, program, languages, data)
    if wanted in {AUTO, RAPIDOCR} and all(map(importlib.util.find_spec, _PACKAGES)):
        return EngineChoice(RAPIDOCR)
    return None


def engine_of(choice: EngineChoice) -> OcrEngine:
    """Return the engine that was found; what it needs is imported now."""
    if choice.engine == TESSERACT:
        from archivolt.adapters.ocr.tesseract import Tesseract  # noqa: PLC0415  if it is there

        return Tesseract(choice.program, languages=choice.languages, data=choice.data)
    from archivolt.adapters.ocr.rapid import RapidOcr  # noqa: PLC0415  if it is there

    return RapidOcr()


@cache
def _languages(program: str, data: str) -> tuple[str, ...]:
    """Return those of our languages that Tesseract has models of."""
    command = [program, "--list-langs", *(("--tessdata-dir", data) if data else ())]
    try:
        listed = subprocess.run(  # noqa: S603  the deployment names the program
            command, capture_output=True, timeout=_LIST_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    installed = listed.stdout.decode("utf-8", "replace").split()
    return tuple(language for language in _LANGUAGES if language in installed)
