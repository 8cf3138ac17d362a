"""What reads code for mistakes."""

from typing import Protocol

from archivolt.domain.code_check import CodeCheck, CodeLanguage


class CodeChecker(Protocol):
    """Parses code and runs none of it."""

    def check(self, language: CodeLanguage, text: str) -> CodeCheck:
        """Return what is wrong with a text, within limits of time and memory.

        Raises:
            UnavailableError: `unavailable`: nothing can be checked now.

        """
        ...
