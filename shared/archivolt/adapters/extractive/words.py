"""Words as the embedded provider compares them: without case, accents and most endings."""

import re
import unicodedata

_STEM_CHARS = 6
_WORD = re.compile(r"\w+")
# The small words of French and English that tell nothing about a subject.
_SMALL = frozenset(
    """
    a about am an and are as at be been but by can could did do does for from had has have how i
    if in into is it its me my no not of on or our say says should so tell than that the their
    them then there these they this to was we were what when where which who why will with would
    you your ai aux avec ce ces cet cette comment d dans de des dire dis dit donc du elle elles
    en est et etre fait il ils j je l la le les leur lui ma mais me mes mon n ne nos notre nous
    on ou par pas plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa se ses
    son sont sur ta te tes ton tu un une va vos votre vous y
    """.split()  # noqa: SIM905  quotes and commas would hide the words
)


def folded(text: str) -> str:
    """Return `text` in lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark))


def plain(text: str) -> str:
    """Return the words of `text`, folded, with one space between them and nothing else."""
    return " ".join(_WORD.findall(folded(text)))


def telling_words(text: str) -> frozenset[str]:
    """Return the beginnings of the words that say what a text is about."""
    words = {word for word in _WORD.findall(folded(text)) if len(word) > 1 or word.isdigit()}
    return frozenset(_singular(word)[:_STEM_CHARS] for word in words - _SMALL)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _STEM_CHARS // 2 and word[-1] in "sx" else word
