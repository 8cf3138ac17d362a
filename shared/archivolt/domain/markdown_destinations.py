"""Where a Markdown link points to: destinations as they are written, read and encoded."""

import re
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import unquote


class Quoting(StrEnum):
    """How the target of a link is encoded where it stands."""

    WIKI = "wiki"
    SINGLE_QUOTED = "single_quoted"
    """A wikilink in a string of YAML between `'`."""
    DOUBLE_QUOTED = "double_quoted"
    """A wikilink in a string of YAML between `"`."""
    BARE = "bare"
    """A destination of Markdown, percent-encoded."""
    ANGLE = "angle"
    """A destination of Markdown between `<` and `>`."""


class Destination(NamedTuple):
    """A destination: the characters it is written with, and where the whole construct ends."""

    start: int
    end: int
    quoting: Quoting
    after: int


_BLANKS: Final = re.compile(r"[ \t]*(?:\r?\n)?[ \t]*")
_ANGLE: Final = re.compile(r"<((?:\\.|[^<>\\\r\n])*)>")
_BARE_EDGE: Final = re.compile(r"\\.|[()\s]", re.DOTALL)
_TITLE: Final = re.compile(
    r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\)""", re.DOTALL
)
_LABEL: Final = re.compile(
    r"[ \t]*\[(?!\^)(?P<label>(?:\\.|[^\[\]\\\r\n])+)\]:[ \t]*(?:\r?\n[ \t]*)?"
)
_LINE_END: Final = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_LINE_TITLE: Final = re.compile(r"""[ \t]+(?:"[^"\r\n]*"|'[^'\r\n]*'|\([^()\r\n]*\))""")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_MAX_PARENTHESES: Final = 6


def destination_at(text: str, position: int, end: int) -> Destination | None:
    """Return the destination of an inline link whose `(` is at `position`, None if it has none."""
    start = _skip_blanks(text, position + 1, end)
    if angle := _ANGLE.match(text, start, end):
        span, after, quoting = angle.span(1), angle.end(), Quoting.ANGLE
    else:
        after = _bare_end(text, start, end)
        span, quoting = (start, after), Quoting.BARE
    closing = _skip_blanks(text, after, end)
    if closing > after and (title := _TITLE.match(text, closing, end)):
        closing = _skip_blanks(text, title.end(), end)
    if not text.startswith(")", closing) or closing >= end:
        return None
    return Destination(*span, quoting, closing + 1)


class Definition(NamedTuple):
    """`[label]: destination`, and where the line behind it begins."""

    label: str
    start: int
    destination: Destination
    next_line: int


def definition_at(text: str, position: int, end: int) -> Definition | None:
    """Return the definition of a reference that starts at `position`, None if there is none."""
    label = _LABEL.match(text, position, end)
    if label is None:
        return None
    if angle := _ANGLE.match(text, label.end(), end):
        found = Destination(*angle.span(1), Quoting.ANGLE, angle.end())
    elif (after := _bare_end(text, label.end(), end)) > label.end():
        found = Destination(label.end(), after, Quoting.BARE, after)
    else:
        return None
    title = _LINE_TITLE.match(text, found.after, end)
    line_end = _LINE_END.match(text, title.end() if title else found.after, end)
    if line_end is None:
        return None
    start = label.start("label") - 1
    return Definition(label["label"], start, found, line_end.end())


def unescaped(written: str) -> str:
    """Return what a destination, or a part of one, names."""
    plain = _ESCAPE.sub(r"\1", written)
    try:
        return unquote(plain, errors="strict")
    except UnicodeDecodeError:
        return plain


def _skip_blanks(text: str, position: int, end: int) -> int:
    blanks = _BLANKS.match(text, position, end)
    return blanks.end() if blanks else position


def _bare_end(text: str, start: int, end: int) -> int:
    """Return where a destination without brackets ends: at a blank or the `)` of its link.

    At its start, where it is none.
    """
    depth, after = 0, end
    if text.startswith("<", start):
        return start
    for edge in _BARE_EDGE.finditer(text, start, end):
        before = depth
        depth += {"(": 1, ")": -1}.get(edge[0], 0)
        if depth < 0 or depth > _MAX_PARENTHESES or edge[0].isspace():
            depth, after = before, edge.start()
            break
    return start if depth else after
