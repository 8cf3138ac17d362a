"""Real parsers without a child process, for what a test wrote itself."""

from archivolt.adapters.code_check.data import json_errors
from archivolt.adapters.code_check.python import python_errors
from archivolt.domain.code_check import CodeCheck, CodeLanguage


class CodeCheckerHere:
    """A `CodeChecker` of Python and JSON."""

    def check(self, language: CodeLanguage, text: str) -> CodeCheck:
        """Return what is wrong with a text."""
        checker = {CodeLanguage.JSON: json_errors, CodeLanguage.PYTHON: python_errors}[language]
        errors = tuple(checker(text))
        return CodeCheck(errors=errors, total=len(errors))
