"""What two spellings of a name have in common: case, accents and Unicode forms folded away.

For names, paths, tags and questions; documents are folded where they are indexed.
"""

import re
import unicodedata
from typing import Final

# Marks of Latin, Cyrillic, Hebrew and Arabic; those of other scripts are letters of their words.
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670]+"
)
_LETTERS: Final = str.maketrans(
    {"œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
    | {"đ": "d", "Đ": "D", "\u0131": "i"}
    | dict.fromkeys("\u2018\u2019\u02bc", "'")
)


def folded(text: str) -> str:
    """Return `text` without case and accents, in one Unicode form; folding twice changes nothing.

    `Créer` and `CREER` are both `creer`.
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS).casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", plain).casefold())
