"""The syntax of regular expressions, as far as it takes to fold one and to know what it needs.

RE2 judges what is valid; here a pattern is only cut into tokens, each of which is written anew.
"""

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

import re2

from archivolt.domain.unaccented import composed, unaccented

WORD: Final = r"\pL\pM\pN_"

_TOKEN: Final = re.compile(
    r"""
    (?P<quote>\\Q.*?(?:\\E|\Z))
    | (?P<escape>\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|..)|[0-7]{1,3}|.))
    | (?P<set>\[\^?\]?(?:\\[pP]\{[^}]{0,50}\}|\\.|\[:\^?\w{1,50}:\]|[^\]\\])*+\])
    | (?P<flags>\(\?[a-zA-Z-]+\))
    | (?P<open>\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?)
    | (?P<close>\))
    | (?P<either>\|)
    | (?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\})\??)
    | (?P<bound>[\^$])
    | (?P<any>\.)
    | (?P<literal>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_SET_PART: Final = re.compile(r"\\[pP]\{[^}]*\}|\[:\^?\w+:\]|\\.|.", re.DOTALL)
# RE2's own classes and `\b` know ASCII alone.
_CLASSES: Final = {
    r"\w": f"[{WORD}]",
    r"\W": f"[^{WORD}]",
    r"\d": r"\p{Nd}",
    r"\D": r"\P{Nd}",
    r"\s": r"[\s\pZ]",
    r"\S": r"[^\s\pZ]",
}
_IN_SET: Final = {r"\w": WORD, r"\d": r"\p{Nd}", r"\D": r"\P{Nd}", r"\s": r"\s\pZ"}
_OPTIONAL: Final = ("*", "?", "{0")
_UNFINISHED: Final = ("[", "\\")
_OF_WHOLE_TEXT: Final = (r"\A", r"\z")


class Kind(Enum):
    """What a token is to what an occurrence has to contain."""

    LITERAL = auto()
    OPEN = auto()
    CLOSE = auto()
    EITHER = auto()
    REPEAT = auto()
    OTHER = auto()


_KINDS: Final = {
    "open": Kind.OPEN,
    "close": Kind.CLOSE,
    "either": Kind.EITHER,
    "repeat": Kind.REPEAT,
}


class Token(NamedTuple):
    """A piece of a pattern; of a literal, `text` is the character that it means."""

    kind: Kind
    text: str


def tokens_of(pattern: str) -> list[Token]:
    """Return a regular expression in tokens."""
    return [
        token
        for match in _TOKEN.finditer(composed(pattern))
        for token in _tokens(match.lastgroup or "", match[0])
    ]


def literal_tokens(text: str) -> list[Token]:
    """Return the tokens that mean just this text."""
    return [Token(Kind.LITERAL, character) for character in composed(text)]


def _tokens(group: str, text: str) -> Iterator[Token]:
    if group == "quote":
        yield from literal_tokens(text[2:].removesuffix(r"\E"))
    elif group == "literal" and text not in _UNFINISHED:
        yield Token(Kind.LITERAL, text)
    elif group == "escape" and not text[1:].isalnum():
        yield Token(Kind.LITERAL, text[1:])
    else:
        yield Token(_KINDS.get(group, Kind.OTHER), text)


def written(tokens: Sequence[Token], *, folds: bool, captures: bool) -> str:
    """Return the pattern for RE2: without accents if it folds, perhaps without capturing groups."""
    return "".join(_written(token, folds=folds, captures=captures) for token in tokens)


def _written(token: Token, *, folds: bool, captures: bool) -> str:
    if token.kind is Kind.LITERAL:
        text = unaccented(token.text) if folds else token.text
        escaped = re2.escape(text)
        return escaped if len(text) == 1 else f"(?:{escaped})"
    if token.kind is Kind.OPEN and not captures:
        return "(?:" if token.text.startswith(("(?P<", "(?<")) or token.text == "(" else token.text
    if token.text.startswith("["):
        return "".join(_in_set(part, folds=folds) for part in _SET_PART.findall(token.text))
    return _CLASSES.get(token.text, token.text)


def _in_set(part: str, *, folds: bool) -> str:
    if len(part) > 1:
        return _IN_SET.get(part, part)
    return unaccented(part) if folds else part


def crosses_lines(tokens: Sequence[Token]) -> bool:
    r"""Tell whether a pattern names a line break; `[^\n]` names what is none."""
    return any(
        token.text in {"\n", r"\n"}
        or (token.text.startswith("[") and r"\n" in token.text and token.text[1:2] != "^")
        for token in tokens
    )


def sees_whole_text(tokens: Sequence[Token]) -> bool:
    """Tell whether a pattern knows where the text begins and ends, and not only its lines."""
    return any(
        token.text in _OF_WHOLE_TEXT or (token.text.startswith("(?") and "-" in token.text)
        for token in tokens
    )


def is_optional(repeat: str) -> bool:
    """Tell whether a repetition may be none."""
    return repeat.startswith(_OPTIONAL)
