"""Finds what a question calls by a name that no language changes: people, codes, numbers. Pure.

`ERR-4021-B`, `10.2.3.4`, `useState` and `Kowalczyk` are the same in every language, where other
words meet by chance. Decision 110 has the figures.
"""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:[-._/@:]+[^\W_]+)*")
_JOINED: Final = re.compile(r"[._/@:]")
# So few in capitals are acronyms, and no sentence.
_FEW_WORDS: Final = 3
_SENTENCE_ENDS: Final = re.compile(r"[.!?:…\n]")


def names_in(question: str) -> list[str]:
    """Return the names of a question, as they are written.

    A word is one with a digit or with a sign inside, with a capital after its first letter, or with
    one at its beginning that no sentence asks for. In a sentence of capitals they say nothing.
    """
    words = list(_WORD.finditer(question))
    shouted = len(words) > _FEW_WORDS and not any(map(str.islower, question))
    names: list[str] = []
    end = 0
    for found in words:
        between = question[end : found.start()]
        if _is_name(found[0], first=_begins_sentence(between, at_start=not end), shouted=shouted):
            names.append(found[0])
        end = found.end()
    return names


def _begins_sentence(between: str, *, at_start: bool) -> bool:
    # Between two words are signs alone, and the letter that is none, `_`.
    if _SENTENCE_ENDS.search(between.rpartition("_")[2]):
        return True
    return at_start and "_" not in between


def _is_name(word: str, *, first: bool, shouted: bool) -> bool:
    if _JOINED.search(word) or any(map(str.isdigit, word)):
        return True
    if shouted:
        return False
    return any(map(str.isupper, word[1:])) or (word[0].isupper() and not first)
