"""The part of a model's text that is meant for the reader.

Some models write their thoughts into the answer, between `<think>` and `</think>` at its start,
several times in a row even; those are left out. Elsewhere the tag is text like any other.
"""

import re
from enum import Enum, auto

from archivolt.adapters.streaming.json_values import joined

_OPEN, _CLOSE = "<think>", "</think>"
_HALF_PAIR = re.compile("[\ud800-\udbff]$")


class _At(Enum):
    START = auto()
    THOUGHTS = auto()
    GAP = auto()
    ANSWER = auto()


class AnswerText:
    """Passes text on piece by piece, without thoughts and with whole characters."""

    def __init__(self) -> None:
        self._at = _At.START
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return what of the text so far can be shown now."""
        self._held += piece
        before = None
        while before != (self._at, self._held):
            before = self._at, self._held
            self._go_on()
        return self._answer() if self._at is _At.ANSWER else ""

    def close(self) -> str:
        """Return what was held back and is no thought after all."""
        held, self._held = self._held, ""
        return "" if self._at is _At.THOUGHTS else joined(held)

    def _go_on(self) -> None:
        match self._at:
            case _At.START:
                self._start()
            case _At.THOUGHTS:
                self._thoughts()
            case _At.GAP:
                self._held = self._held.lstrip()
                self._start()
            case _At.ANSWER:
                return

    def _start(self) -> None:
        opening = self._held.lstrip()
        if opening.startswith(_OPEN):
            self._at, self._held = _At.THOUGHTS, opening[len(_OPEN) :]
        elif not _OPEN.startswith(opening):
            self._at = _At.ANSWER

    def _thoughts(self) -> None:
        before, found, after = self._held.partition(_CLOSE)
        self._at = _At.GAP if found else _At.THOUGHTS
        self._held = after if found else before[-len(_CLOSE) :]

    def _answer(self) -> str:
        half = _HALF_PAIR.search(self._held)
        ready, self._held = (self._held[:-1], self._held[-1]) if half else (self._held, "")
        return joined(ready)
