"""Code checks on what is installed here: good files called broken, broken ones found, and time.

The files are those of the packages of this environment, and of `make node-clients` where it ran;
some are samples of what is wrong, so that what is called broken is at most what is printed. What is
broken here is so by the bracket that it lost; in a text or a pattern that breaks nothing, so that
what is found is at least what is printed.
"""

import random
import re
import sysconfig
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from archivolt.adapters.code_check.worker import checker_of
from archivolt.domain.code_check import CodeLanguage, code_language
from bench.table import Row

_ROOT: Final = Path(__file__).parents[1]
_FOLDERS: Final = (
    Path(sysconfig.get_path("stdlib")),
    Path(sysconfig.get_path("purelib")),
    _ROOT / "node_modules",
)
_MOST: Final = 300
_LARGEST: Final = 100_000
_LINES: Final = 2_000
# On a line that is no comment.
_BRACKET: Final = re.compile(r"^(?![ \t]*(?:[*#]|/[*/]))[^\n]*?([()\[\]{}])", re.MULTILINE)
# Their texts are full of brackets that mean nothing.
_WITHOUT_BRACKETS: Final = frozenset((CodeLanguage.HTML, CodeLanguage.YAML))


def measure() -> list[Row]:
    """Return a row of each measure for each language of which there are files."""
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for language, paths in sorted(_files().items()):
        texts = list(islice(_texts(paths), _MOST))
        rows += _rows(language, texts) if texts else []
    return rows


def _files() -> dict[CodeLanguage, list[Path]]:
    found: dict[CodeLanguage, list[Path]] = {}
    for folder in _FOLDERS:
        for path in folder.rglob("*.*"):
            language = code_language(path.as_posix())
            # What tests of parsers are made of is broken.
            if language and not {"test", "tests", "invalid"} & set(path.parts):
                found.setdefault(language, []).append(path)
    return found


def _texts(paths: list[Path]) -> Iterator[str]:
    random.Random(1).shuffle(paths)  # noqa: S311  the same sample each time
    for path in paths:
        if path.is_file() and path.stat().st_size <= _LARGEST:
            try:
                yield path.read_text("utf-8-sig")
            except UnicodeDecodeError:
                continue


def _rows(language: CodeLanguage, texts: Sequence[str]) -> list[Row]:
    check = checker_of(language)
    lines = sum(text.count("\n") + 1 for text in texts)
    started = time.process_time()
    good = [text for text in texts if not any(check(text))]
    taken = time.process_time() - started
    some = [] if language in _WITHOUT_BRACKETS else good
    broken = [without for text in some if (without := _without_a_bracket(text))]
    found = sum(any(check(text)) for text in broken)
    rows = [
        Row(
            measure=f"{language.value}: good files called broken, of {len(texts)}",
            value=100 * (1 - len(good) / len(texts)),
            unit="%",
        ),
        Row(
            measure=f"{language.value}: {_LINES:,} lines checked",
            value=1_000 * taken * _LINES / lines,
            unit="ms",
        ),
    ]
    if broken:
        told = f"{language.value}: files without one bracket found, of {len(broken)}"
        rows.append(Row(measure=told, value=100 * found / len(broken), unit="%"))
    return rows


def _without_a_bracket(text: str) -> str:
    """Return a text without one of its brackets, the same each time; "" if it has none."""
    places = [bracket.start(1) for bracket in _BRACKET.finditer(text)]
    if not places:
        return ""
    place = random.Random(len(text)).choice(places)  # noqa: S311  as above
    return text[:place] + text[place + 1 :]
