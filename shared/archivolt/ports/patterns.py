"""What finds and replaces a pattern in text, in time proportional to the text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

Span = tuple[int, int]
"""Where an occurrence starts and ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """An occurrence, and what takes its place."""

    start: int
    end: int
    text: str


class Pattern(Protocol):
    """A literal or a regular expression, ready for use by several threads.

    Occurrences do not overlap, come in order and are never empty. Unless the pattern names a line
    break, each is within one line, and `^` and `$` are the bounds of lines.
    """

    @property
    def folds(self) -> bool:
        """Whether case and accents do not matter."""
        ...

    @property
    def literals(self) -> Sequence[Sequence[str]]:
        """What an occurrence contains: all the texts of one of these ways; empty: nothing known.

        The texts are unaccented and casefolded, and longer than two characters.
        """
        ...

    def spans(self, text: str) -> Iterator[Span]:
        """Yield the occurrences in a text, in its own characters."""
        ...

    def replacements(self, text: str, replacement: str) -> Iterator[Replacement]:
        r"""Yield the occurrences in a text, each with what takes its place.

        For a regular expression `$1`, `${name}` and `$0` stand for what its groups and the whole
        have found, as written in `text`, and `$$` for a dollar; for a literal they mean themselves.

        Raises:
            InvalidRequestError: `invalid_pattern`: the replacement names a group there is not.

        """
        ...

    def prepared(self, text: str) -> bytes:
        """Return a text as `counts` and `prepared_spans` take it."""
        ...

    def counts(self, prepared: Sequence[bytes], *, most: int) -> list[int]:
        """Return how often it occurs in each of these texts, counted up to about `most`."""
        ...

    def prepared_spans(self, prepared: bytes) -> Iterator[Span]:
        """Yield the occurrences in a prepared text, in its bytes."""
        ...


class PatternCompiler(Protocol):
    """Makes patterns. Every implementation passes `tests/contract`."""

    def compile(
        self, pattern: str, *, regex: bool, case_sensitive: bool, whole_word: bool
    ) -> Pattern:
        """Return a pattern.

        Unless `case_sensitive`, case and accents do not matter. NFC and NFD are the same. Words
        are letters, digits and `_` of any script.

        Raises:
            InvalidRequestError: `invalid_pattern`: no regular expression, one that cannot be
                matched in linear time (look-around, back-references), one that finds empty text,
                or one too long.

        """
        ...
