"""Python, as its own compiler sees it."""

import re
import sys
from collections.abc import Iterator
from typing import Final

from archivolt.domain.code_check import CodeError

_PARAMETERS: Final = r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
# What newer versions have: templates of texts (3.14), parameters and names of types (3.12).
_TEMPLATE: Final = re.compile(r"""(?<![\w"'])([rR]?)[tT]([rR]?)(?=["'])""")
_ALIAS: Final = re.compile(
    rf"^(?P<before>[ \t]*)type[ \t]+(?P<name>\w+)[ \t]*(?:{_PARAMETERS})?[ \t]*=(?!=)",
    re.MULTILINE,
)
_DECLARED: Final = re.compile(
    rf"(?P<before>\b(?:def|class)[ \t]+\w+[ \t]*)(?P<types>{_PARAMETERS})"
)


def python_errors(text: str) -> Iterator[CodeError]:
    """Yield the first error of a module; the compiler tells no others.

    The version is that of the interpreter that runs the product; what newer ones have besides is
    taken where it can be told.
    """
    error = _error(text)
    if error is None:
        return
    known = _error(_in_older_words(text))
    if known:
        yield max(error, known, key=lambda found: found.line)


def _in_older_words(text: str) -> str:
    """Return a text with what newer versions have as what this one knows, at the same places.

    What this one knows stays: its compiler tells what is wrong in it.
    """
    if sys.version_info < (3, 14):
        text = _TEMPLATE.sub(r"\1f\2", text)
    if sys.version_info >= (3, 12):
        return text
    text = _ALIAS.sub(_in_one_line, text)
    return _DECLARED.sub(lambda told: told["before"] + re.sub(r"[^\n]", " ", told["types"]), text)


def _in_one_line(alias: re.Match[str]) -> str:
    if "\n" in alias[0]:
        return alias[0]
    return f"{alias['before']}{alias['name']}".ljust(len(alias[0]) - 1) + "="


def _error(text: str) -> CodeError | None:
    try:
        # As py_compile does. What comes out is dropped: nothing runs it.
        compile(text, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        return CodeError(line=max(line, 1), column=max(column, 1), message=error.msg)
    except ValueError as error:
        return CodeError(line=1, column=1, message=str(error))
    return None
