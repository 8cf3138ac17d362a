"""What tells a template of a file: marks that a program fills in, where its language has code.

In a comment or a string a mark is a text like any other, and breaks nothing.
"""

import re
from typing import Final

from archivolt.domain.code_check import CodeLanguage

_BRACES: Final = r"\{%[-+]?\s*\w|\{\{[-#/~]"
_TAGS: Final = r"<%|<\?(?:php|=)"
# What is filled in with quotes of its own ends the string that it stands in.
_QUOTED: Final = (
    r"""(?P<quote>["'])[^"'\n]*?(?:\{%|\{\{-|<%[-=]?)\s*\w[^"'\n%}]*(?P=quote)"""
    r"[^\n]{0,200}?(?:%\}|\}\}|%>)"
)
_STRINGS: Final = r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\\."""
_C_COMMENTS: Final = r"/\*.*?(?:\*/|\Z)"
_TRIPLE_STRINGS: Final = r'''"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^'\\]|\\.|'(?!''))*\'\'\''''


def _marks(kinds: str, *texts: str) -> re.Pattern[str]:
    skipped = "|".join(texts)
    return re.compile(f"(?P<mark>{kinds})|{skipped}", re.DOTALL)


_SCRIPT: Final = _marks(
    # An object may begin with a comment.
    rf"(?!\{{\{{/[*/])(?:{_BRACES})|{_TAGS}|{_QUOTED}",
    _C_COMMENTS,
    r"//[^\n]*",
    r"`(?:[^`\\]|\\.)*`",
    _STRINGS,
)
_PYTHON: Final = _marks(f"{_BRACES}|{_QUOTED}", r"#[^\n]*", _TRIPLE_STRINGS, _STRINGS)
_MARKS: Final = {
    CodeLanguage.CSS: _marks(f"{_BRACES}|{_QUOTED}", _C_COMMENTS, _STRINGS),
    # What is filled in stands in attributes and scripts too, with any quotes.
    CodeLanguage.HTML: _marks(f"{_BRACES}|{_TAGS}", r"<!--.*?(?:-->|\Z)"),
    CodeLanguage.JAVASCRIPT: _SCRIPT,
    CodeLanguage.JSON: _marks(f"{_BRACES}|{_QUOTED}", _STRINGS),
    CodeLanguage.PYTHON: _PYTHON,
    CodeLanguage.TOML: _PYTHON,
    CodeLanguage.TSX: _SCRIPT,
    CodeLanguage.TYPESCRIPT: _SCRIPT,
    # A quote within a word begins no string, nor does # a comment.
    CodeLanguage.YAML: _marks(
        f"{_BRACES}|{_TAGS}|{_QUOTED}", r"(?<!\S)#[^\n]*", rf"(?<![^\s\[{{,])(?:{_STRINGS})"
    ),
}


def is_template(language: CodeLanguage, text: str) -> bool:
    """Whether a file with errors is code only when a program has filled it in."""
    return any(found["mark"] for found in _MARKS[language].finditer(text))
