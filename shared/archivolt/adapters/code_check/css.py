"""CSS, by the rules that every version of it keeps: strings, comments, brackets, declarations.

Properties, values and conditions are not judged: browsers learn new ones every month.
"""

import re
from bisect import bisect
from collections.abc import Iterator
from typing import Final, NamedTuple

from archivolt.domain.code_check import CodeError

_TOKEN: Final = re.compile(
    r"""(?P<comment>/\*(?:[^*]|\*(?!/))*\*/)
    | (?P<unclosed>/\*)
    | (?P<string>"(?:[^"\\\n]|\\[\s\S])*" | '(?:[^'\\\n]|\\[\s\S])*')
    | (?P<quote>["'])
    | (?P<url>url\(\s*(?!["'\s])(?:[^)\\"'(\s]|\\[\s\S])*\s*\))
    | (?P<escape>\\[\s\S])
    | (?P<sign>[{}()\[\];])""",
    re.VERBOSE | re.IGNORECASE,
)
# What may have a colon in it, and so tells nothing of the declaration around it.
_WITHIN: Final = re.compile(
    r"""/\*(?:[^*]|\*(?!/))*\*/|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\([^()]*\)"""
)
# `progid:` begins the value of an old filter.
_NEXT: Final = re.compile(r"\n\s*(?P<name>(?!progid:)-?[a-z][\w-]*)[ \t]*:(?!:)", re.IGNORECASE)
_DEPTH: Final = 3
_CLOSING: Final = {"{": "}", "(": ")", "[": "]"}


def _without_inner(statement: str) -> str:
    """Return a statement of the same length without its comments, strings and brackets."""
    for _ in range(_DEPTH):
        statement = _WITHIN.sub(lambda inner: "_" * len(inner[0]), statement)
    return statement


class _Open(NamedTuple):
    """A bracket that waits for its end."""

    sign: str
    offset: int


def css_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of a style sheet, in their order."""
    return _Sheet(text).errors()


class _Sheet:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(line.end() for line in re.finditer("\n", text))]
        self._open: list[_Open] = []
        # Where the statement in progress starts.
        self._start = 0

    def errors(self) -> Iterator[CodeError]:
        for token in _TOKEN.finditer(self._text):
            kind, offset = token.lastgroup, token.start()
            if kind == "unclosed":
                yield self._error(offset, "the comment is not closed")
                return
            if kind == "quote":
                yield self._error(offset, "the string is not closed")
                return
            if kind == "comment" and not self._text[self._start : offset].strip():
                self._start = token.end()
            if kind == "sign":
                yield from self._after(token.group(), offset)
        if self._open:
            last = self._open[-1]
            yield self._error(len(self._text), f"missing {_CLOSING[last.sign]}")

    def _after(self, sign: str, offset: int) -> Iterator[CodeError]:
        if sign in _CLOSING:
            self._open.append(_Open(sign, offset))
            self._start = offset + 1 if sign == "{" else self._start
            return
        within = self._open[-1].sign if self._open else ""
        if sign == ";":
            # A ; within ( or [ belongs to what stands there.
            if within in {"", "{"}:
                yield from self._ended(offset, within)
            return
        if not within:
            yield self._error(offset, f"unexpected {sign}")
        elif _CLOSING[within] != sign:
            yield self._error(offset, f"unexpected {sign}, missing {_CLOSING[within]}")
        if within:
            self._open.pop()
        if sign == "}":
            yield from self._ended(offset, within)

    def _ended(self, offset: int, within: str) -> Iterator[CodeError]:
        """Judge the statement that ends here, and begin the next."""
        start, self._start = self._start, offset + 1
        statement = self._text[start:offset]
        said = statement.strip()
        if not said or said.startswith("@"):
            return
        place = start + len(statement) - len(statement.lstrip())
        if within != "{" or said.startswith("--"):
            return
        if ":" not in said:
            yield self._error(place, "a declaration without its :")
        elif found := _NEXT.search(_without_inner(self._text[place:offset])):
            yield self._error(place + found.start("name"), "missing ; before this declaration")

    def _error(self, offset: int, message: str) -> CodeError:
        line = bisect(self._lines, offset)
        return CodeError(line=line, column=offset - self._lines[line - 1] + 1, message=message)
