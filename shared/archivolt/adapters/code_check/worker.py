"""The child process code is checked in: `python -m … LANGUAGE`, text to JSON.

It imports the parser, limits its own memory and time, and only then looks at the text. It compiles
to nothing that is kept, imports nothing that the text names, and runs none of it.
"""

import importlib
import json
import os
import resource
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import islice
from typing import Final

from archivolt.adapters.code_check.templates import is_template
from archivolt.domain.code_check import CodeCheck, CodeError, CodeLanguage
from archivolt.domain.limits import (
    MAX_CODE_CHECK_BYTES,
    MAX_CODE_CHECK_CPU_SECONDS,
    MAX_CODE_ERRORS,
)

Checker = Callable[[str], Iterable[CodeError]]

_CHECKERS: Final = {
    CodeLanguage.CSS: ("css", "css_errors"),
    CodeLanguage.HTML: ("html_pages", "html_errors"),
    CodeLanguage.JAVASCRIPT: ("syntax_trees", "javascript_errors"),
    CodeLanguage.JSON: ("data", "json_errors"),
    CodeLanguage.PYTHON: ("python", "python_errors"),
    CodeLanguage.TOML: ("data", "toml_errors"),
    CodeLanguage.TSX: ("syntax_trees", "tsx_errors"),
    CodeLanguage.TYPESCRIPT: ("syntax_trees", "typescript_errors"),
    CodeLanguage.YAML: ("data", "yaml_errors"),
}
"""The module and the function that check each language; one module is imported."""


def main(language: str) -> None:
    """Check the text on standard input and write what is wrong to standard output."""
    answer_to = os.fdopen(os.dup(1), "wb")
    # Whatever a parser prints must not get into the answer.
    os.dup2(2, 1)
    kind = CodeLanguage(language)
    checker = checker_of(kind)
    _limit(resource.RLIMIT_AS, MAX_CODE_CHECK_BYTES)
    _limit(resource.RLIMIT_CPU, MAX_CODE_CHECK_CPU_SECONDS)
    _limit(resource.RLIMIT_CORE, 0)
    text = sys.stdin.buffer.read().decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    with answer_to:
        answer_to.write(json.dumps(asdict(_checked(kind, checker, text))).encode())


def checker_of(language: CodeLanguage) -> Checker:
    """Return what yields the errors of a text, its parser imported; without limits of its own."""
    module, name = _CHECKERS[language]
    return getattr(importlib.import_module(f"archivolt.adapters.code_check.{module}"), name)


def _checked(language: CodeLanguage, checker: Checker, text: str) -> CodeCheck:
    try:
        found = iter(checker(text))
        errors = tuple(islice(found, MAX_CODE_ERRORS))
        if errors and is_template(language, text):
            return CodeCheck(unchecked="code_template")
        return CodeCheck(errors=errors, total=len(errors) + sum(1 for _ in found))
    except (MemoryError, RecursionError):
        return CodeCheck(unchecked="code_too_complex")


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (bounded, bounded))


if __name__ == "__main__":
    main(sys.argv[1])
