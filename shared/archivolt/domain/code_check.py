"""Code that is read for mistakes and never run (L22): what can be read, and what is found."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final


class CodeLanguage(StrEnum):
    """What can be checked."""

    CSS = "css"
    HTML = "html"
    JAVASCRIPT = "javascript"
    JSON = "json"
    PYTHON = "python"
    TOML = "toml"
    TSX = "tsx"
    TYPESCRIPT = "typescript"
    YAML = "yaml"


_BY_EXTENSION: Final[Mapping[str, CodeLanguage]] = {
    ".cjs": CodeLanguage.JAVASCRIPT,
    ".css": CodeLanguage.CSS,
    ".cts": CodeLanguage.TYPESCRIPT,
    ".htm": CodeLanguage.HTML,
    ".html": CodeLanguage.HTML,
    ".js": CodeLanguage.JAVASCRIPT,
    ".json": CodeLanguage.JSON,
    ".jsx": CodeLanguage.JAVASCRIPT,
    ".mjs": CodeLanguage.JAVASCRIPT,
    ".mts": CodeLanguage.TYPESCRIPT,
    ".py": CodeLanguage.PYTHON,
    ".pyi": CodeLanguage.PYTHON,
    ".toml": CodeLanguage.TOML,
    ".ts": CodeLanguage.TYPESCRIPT,
    ".tsx": CodeLanguage.TSX,
    ".yaml": CodeLanguage.YAML,
    ".yml": CodeLanguage.YAML,
}


# JSON for people, by the programs that read it: comments and commas at the end are right there.
_COMMENTED: Final = re.compile(
    r"(^|/)(\.vscode/[^/]+|tsconfigs/[^/]+|[tj]sconfig[^/]*|\.?devcontainer|\.eslintrc|api-extractor"
    r"|biome|deno|nx|rush|tslint|turbo|wrangler|\.markdownlint)\.json$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeError:
    """A mistake; line and column count from 1, columns in characters.

    `message` quotes nothing longer than a name: what is read may hold secrets.
    """

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCheck:
    """What a check found: the first errors and how many there are.

    `unchecked` is the code of the reason why it came to no end, "" if it did; of `domain.reasons`.
    """

    errors: tuple[CodeError, ...] = ()
    total: int = 0
    unchecked: str = ""


def code_language(path: str) -> CodeLanguage | None:
    """Return the language that a file's name tells; None if it is none that can be checked."""
    if _COMMENTED.search(path):
        return None
    return _BY_EXTENSION.get(PurePosixPath(path).suffix.lower())
