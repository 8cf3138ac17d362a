"""What every occurrence of a pattern contains, so that most documents need not be looked at."""

from collections.abc import Sequence
from typing import Final

from archivolt.adapters.re2.syntax import Kind, Token, is_optional
from archivolt.domain.unaccented import unaccented

_LEAST_CHARS: Final = 3
_MOST_WAYS: Final = 16
_MOST_GROUPS: Final = 100

Ways = list[list[str]]
"""Each way to occur with the texts that it contains."""


def required_literals(tokens: Sequence[Token]) -> Ways:
    """Return the ways in which a pattern occurs; none if there is one that needs no literal."""
    if sum(token.kind is Kind.OPEN for token in tokens) > _MOST_GROUPS:
        return []
    return _Reader(tokens).alternatives()


class _Reader:
    """One pass over tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def alternatives(self) -> Ways:
        """Read up to the end of the group, and return its ways."""
        sequences = [_Sequence()]
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token.kind is Kind.CLOSE:
                break
            if token.kind is Kind.EITHER:
                sequences.append(_Sequence())
            else:
                self._read(token, sequences[-1])
        return _joined([sequence.ways() for sequence in sequences])

    def _read(self, token: Token, sequence: "_Sequence") -> None:
        if token.kind is Kind.OPEN:
            ways = self.alternatives()
            sequence.group([] if self._is_optional() else ways)
        elif token.kind is Kind.LITERAL and not self._is_optional():
            sequence.literal(token.text, repeated=bool(self._repeat()))
        else:
            sequence.cut()

    def _repeat(self) -> str:
        """Return the repetition that follows, or nothing."""
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        return token.text if token and token.kind is Kind.REPEAT else ""

    def _is_optional(self) -> bool:
        return is_optional(self._repeat())


class _Sequence:
    """What follows one another in one alternative."""

    def __init__(self) -> None:
        self._runs = [""]
        self._groups: list[Ways] = []

    def literal(self, text: str, *, repeated: bool) -> None:
        """Add a character; after one that is repeated, another one of it may follow."""
        self._runs[-1] += text
        if repeated:
            self.cut()

    def cut(self) -> None:
        """Note that anything may stand here."""
        self._runs.append("")

    def group(self, ways: Ways) -> None:
        """Add a group, of which nothing may be known."""
        self.cut()
        if ways:
            self._groups.append(ways)

    def ways(self) -> Ways:
        """Return the ways of this alternative."""
        runs = [unaccented(run).casefold() for run in self._runs]
        own = [run for run in runs if len(run) >= _LEAST_CHARS]
        sure = [*own, *(text for ways in self._groups if len(ways) == 1 for text in ways[0])]
        if sure:
            return [sure]
        return self._groups[0] if self._groups else []


def _joined(alternatives: list[Ways]) -> Ways:
    if not all(alternatives):
        return []
    ways = [way for each in alternatives for way in each]
    return ways if len(ways) <= _MOST_WAYS else []
