"""Finds what a question calls by a name that no language changes: people, codes, numbers. Pure.

`ERR-4021-B`, `10.2.3.4`, `useState` and `Kowalczyk` are the same in every language, where other
words meet by chance. Decision 110 has the figures.
"""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:[-._/@:]+[^\W_]+)*")
_JOINED: Final = re.compile(r"[._/@:]")
_SENTENCE_BEGINS: Final = re.compile(r"(?:^|[.!?:…])\W*$")


def names_in(question: str) -> list[str]:
    """Return the names of a question, as they are written.

    A word is one with a digit or with a sign inside, with a capital after its first letter, or with
    one at its beginning that no sentence asks for.
    """
    return [
        found[0]
        for found in _WORD.finditer(question)
        if _is_name(found[0], first=_SENTENCE_BEGINS.search(question, 0, found.start()) is not None)
    ]


def _is_name(word: str, *, first: bool) -> bool:
    if _JOINED.search(word) or any(each.isdigit() or each.isupper() for each in word[1:]):
        return True
    return word[0].isdigit() or (word[0].isupper() and not first)
