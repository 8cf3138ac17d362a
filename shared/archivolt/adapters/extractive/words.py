"""Words as the embedded provider compares them: without case, accents and most endings."""

import re
import unicodedata

_STEM_CHARS = 6
_WORD = re.compile(r"\w+")
# The small words of French and English that tell nothing about a subject.
_SMALL = frozenset(
    """
    a about ai am an and any are as at aux avec avoir be been but by c ca can ce cela ces cet
    cette comment could d dans de des did dire dis dit do does doit doivent donc du elle elles
    en est et etre faire fait faut for from had has have how i if il ils in into is it its j je
    l la laquelle le lequel les lesquelles lesquels leur lui ma mais me mes mon my n ne need
    needs no nos not notre nous of on or ou our par pas peut peuvent peux please plus pour
    pourquoi qu quand que quel quelle quelles quels qui quoi s sa say says se sert servir ses
    should so some son sont sur ta te tell tes than that the their them then there these they
    this to ton tu un une use used using utilise utiliser va voici vos votre vous want was we
    were what when where which who why will with would y you your
    """.split()  # noqa: SIM905  quotes and commas would hide the words
)

_IDENTIFIER = re.compile(r"\b(?:[a-z]+[A-Z]\w*|\w+(?:[_.]\w+)+)")


def identifiers(text: str) -> list[str]:
    """Return the names of code in a text, such as `useState` or `max_tokens`, each once."""
    return list(dict.fromkeys(_IDENTIFIER.findall(text)))


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
