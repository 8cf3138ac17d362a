"""Markdown of strangers, made safe to show inside of our own.

A document that is quoted must not make a reader's screen call an address: its images become plain
links and its HTML becomes text. Code stays as it is where nobody can doubt that it is code: between
fences at the very start of a line, and in spans that end on their line (CommonMark 0.31, "Fenced
code blocks", "Code spans"); other fences and loose backticks are escaped, so that none opens.
"""

import re
from typing import Final

_SPAN: Final = r"(?<!`)(?P<run>`+)(?!`).*?(?<!`)(?P=run)(?!`)"
_PARTS: Final = re.compile(rf"\\.|{_SPAN}|(?P<active>!(?=\[)|<(?=[A-Za-z/!?])|`+|^[ \t]*~~~+)")
_OPENING: Final = re.compile(r"(`{3,})[^`]*")
_MARKS: Final = frozenset("[]\\`*_<!")


def inert_lines(text: str) -> list[str]:
    """Return the lines of a text without images and HTML."""
    lines: list[str] = []
    fence: re.Pattern[str] | None = None
    for line in text.splitlines():
        opening = None if fence else _OPENING.fullmatch(line)
        lines.append(line if fence or opening else _PARTS.sub(_escaped, line))
        if opening:
            fence = re.compile(rf" {{0,3}}{opening.group(1)}`*[ \t]*")
        elif fence and fence.fullmatch(line):
            fence = None
    return lines


def plain(text: str) -> str:
    """Return a name so that no mark in it means anything."""
    return "".join(f"\\{mark}" if mark in _MARKS else mark for mark in text)


def _escaped(part: re.Match[str]) -> str:
    if part.group("active") is None:
        return part.group()
    return re.sub(r"[!<`~]", r"\\\g<0>", part.group())
