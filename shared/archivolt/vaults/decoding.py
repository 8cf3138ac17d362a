"""Turns a file's bytes into text, whatever it was written with, or says that it is none."""

import re
from typing import Final, NamedTuple

_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# A PDF may have nothing in it that text has not.
_PDF: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,1000}%PDF-\d")
_SAMPLE = 65_536
_CONTROLS: Final = frozenset(range(32)) - {8, 9, 10, 12, 13, 27}
_MAX_CONTROLS = 0.005
_MOSTLY = 0.95
_MIN_WHOLE_PER_DAMAGED = 10
_MOSTLY_LATIN: Final = 0.7
_WESTERN: Final = frozenset(
    "àâäçéèêëîïôöùûüÿœæÀÂÄÇÉÈÊËÎÏÔÖÙÛÜŸŒÆßñÑáíóúÁÍÓÚ¿¡«»°€£§²³±·µ\xa0"
    "\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2022\u2026\u2122©®"
)


class DecodedText(NamedTuple):
    """Text, and the encoding it was in."""

    text: str
    encoding: str


def decode(data: bytes) -> DecodedText | None:
    """Return the text of a file, or None if it is not text.

    UTF-8, and UTF-16 and UTF-32 with a byte order mark, are read exactly; anything else is judged
    by its first 64 KiB. Text with zero bytes is UTF-16, or none.
    """
    if _PDF.match(data):
        return None
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data, encoding)
    if 0 in data[:_SAMPLE]:
        return _unmarked_utf16(data)
    if _is_binary(data):
        return None
    return (
        _decoded(data, "utf-8")
        or _mostly_utf8(data)
        or _decoded(data, _likely_encoding(data))
        or DecodedText(data.decode("cp1252", "replace"), "cp1252")
    )


def _decoded(data: bytes, encoding: str) -> DecodedText | None:
    try:
        return DecodedText(data.decode(encoding), encoding.removesuffix("-sig"))
    except (UnicodeDecodeError, LookupError):
        return None


def _mostly_utf8(data: bytes) -> DecodedText | None:
    """Return UTF-8 with a few damaged bytes; other encodings make hardly any sequence of UTF-8."""
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    whole = sum(not character.isascii() for character in text[:_SAMPLE]) - damaged
    return DecodedText(text, "utf-8") if damaged * _MIN_WHOLE_PER_DAMAGED <= whole else None


def _unmarked_utf16(data: bytes) -> DecodedText | None:
    """Return UTF-16 without a mark: every zero is half of a Latin letter, as most halves are."""
    even, odd = data[:_SAMPLE:2], data[1:_SAMPLE:2]
    for encoding, low, high in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        if 0 not in low and high.count(0) >= _MOSTLY_LATIN * len(high):
            found = _decoded(data, encoding)
            latin = found.text[:_SAMPLE].encode("latin-1", "ignore") if found else b""
            return None if _is_binary(latin) else found
    return None


def _is_binary(data: bytes) -> bool:
    sample = data[:_SAMPLE]
    controls = sum(sample.count(control) for control in _CONTROLS)
    return controls > _MAX_CONTROLS * len(sample)


def _likely_encoding(data: bytes) -> str:
    sample = data[:_SAMPLE]
    if _is_western(sample.decode("cp1252", "replace")):
        return "cp1252"
    # Heavy, and needed for old files of other alphabets only.
    from charset_normalizer import from_bytes  # noqa: PLC0415  rarely needed

    best = from_bytes(sample).best()
    return best.encoding if best else "cp1252"


def _is_western(text: str) -> bool:
    """Tell whether the characters beyond ASCII are those that French and its neighbours use."""
    beyond = [character for character in text if not character.isascii()]
    return sum(character in _WESTERN for character in beyond) >= _MOSTLY * len(beyond)
