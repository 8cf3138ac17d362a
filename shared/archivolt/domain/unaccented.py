"""Text without its accents, and the way back from a place in it to the place in the text.

A document is kept once as it is and, where that differs, once in this form, in which `creer` finds
`créer`. Case stays, since engines fold it themselves.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_ASCII_END: Final = 128
# Normalising is quadratic in the length of a run of combining marks, so it sees little at a time.
_SLICES: Final = re.compile(r"(?s).{1,1024}(?!\S)|.{1,1024}")
# Marks of Latin, Greek, Cyrillic, Hebrew and Arabic; those of other scripts are letters of words.
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670]+"
)
_LETTERS: Final = (
    {"œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
    | {"đ": "d", "Đ": "D", "\u0131": "i", "ß": "ss", "ẞ": "SS"}
    | dict.fromkeys("\u2018\u2019\u02bc", "'")
    | dict.fromkeys("\u2010\u2011", "-")
)
# Vowels and final consonants of Hangul, which join the syllable before them.
_JOINING: Final = range(0x1160, 0x1200)


def composed(text: str) -> str:
    """Return `text` in NFC, in time proportional to its length."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFC", piece) for piece in _SLICES.findall(text))


def unaccented(text: str) -> str:
    """Return `text` without accents and variants of letters, in NFC; case and lines stay."""
    return text if text.isascii() else composed(text).translate(_TABLE)


def origins(text: str, *, accents: bool) -> list[int]:
    """Return where each character of `unaccented(text)`, and its end, stands in `text`.

    With `accents`, of `composed(text)`.
    """
    places: list[int] = []
    for start, cluster in _clusters(text):
        length = len(composed(cluster) if accents else unaccented(cluster))
        places += [start] * length
    return [*places, len(text)]


def _clusters(text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a text that composing leaves apart, with their places."""
    start = 0
    for place, character in enumerate(text[1:], start=1):
        if not _joins(character):
            yield start, text[start:place]
            start = place
    if text:
        yield start, text[start:]


def _joins(character: str) -> bool:
    if ord(character) < _ASCII_END:
        return False
    return unicodedata.category(character)[0] == "M" or ord(character) in _JOINING


class _Table(dict[int, str]):
    """What `str.translate` puts for each character; filled as they are met."""

    def __missing__(self, number: int) -> str:
        character = chr(number)
        if number >= _ASCII_END:
            plain = unicodedata.normalize("NFKD", _LETTERS.get(character, character))
            character = unicodedata.normalize("NFC", _MARKS.sub("", plain))
        self[number] = character
        return character


_TABLE: Final = _Table()
