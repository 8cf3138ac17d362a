"""Turns text into the terms it is found by, the same way for passages and for questions.

It knows words, not documents: no index, no ranking. Accents, case and writing variants are folded
away first (`creer` is `créer`, `œuvre` is `oeuvre`), then words are stemmed in French or English.
Text that has no spaces between words is cut into pairs of characters. Identifiers are found whole
and by their parts (`useState` by `usestate` and by `state`).
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final

from Stemmer import Stemmer

from archivolt.domain.limits import MAX_QUERY_TERMS, MAX_TERM_CHARS
from archivolt.domain.messages import Language
from archivolt.retrieval.stop_words import AMBIGUOUS, ENGLISH, FRENCH

ANALYSIS_VERSION: Final = "1"
"""Changes when the same text gives other terms: an index made before has to be made anew."""

_STOP_WORDS: Final = {Language.EN: ENGLISH, Language.FR: FRENCH}
_ALGORITHMS: Final = {Language.EN: "english", Language.FR: "french"}
_EVIDENCE: Final = {Language.EN: ENGLISH - AMBIGUOUS, Language.FR: FRENCH - AMBIGUOUS}
_IN_BOTH: Final = ENGLISH & FRENCH

# What is remembered of words, since they come again: some megabytes at the most.
_MAX_KEPT: Final = 16_384
_MAX_KEPT_CHARS: Final = 32

# Normalising is quadratic in the length of a run of combining marks, so it sees little at a time.
_SLICES: Final = re.compile(r"(?s).{1,1024}(?!\S)|.{1,1024}")
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u0640\u064b-\u065f\u0670]+"
)
_LETTERS: Final = (
    {"œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
    | {"đ": "d", "Đ": "D", "\u0131": "i", "\u00ad": ""}
    | dict.fromkeys("\u2018\u2019\u02bc", "'")
    | dict.fromkeys("\u2010\u2011", "-")
)
# Few texts have any: looking for them costs a tenth of translating every character.
_ANY_LETTER: Final = re.compile(f"[{''.join(_LETTERS)}]")
_DIGIT_SPACES: Final = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_DECIMAL_COMMA: Final = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))")

# Han, kana, Hangul; Thai, Lao, Burmese, Khmer: scripts written without spaces between words.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
)
_UNSPACED_RUN: Final = re.compile(f"[{_UNSPACED}]+")
_UNSPACED_SPLIT: Final = re.compile(f"([{_UNSPACED}]+)")
# Letters, digits and _; the marks of Indic scripts and of those above count as letters.
_WORD: Final = f"[\\w\u0900-\u0963\u0966-\u0dff{_UNSPACED}]+"
_TOKEN: Final = re.compile(
    rf"\d{{1,3}}(?:[ ,]\d{{3}}){{1,4}}(?!\w)|{_WORD}(?:[-.']{_WORD})*(?:\+\+|\#(?!\w))?"
    r"|(?<![^\s`])[!$%&+/:<=>?@^|~\[\]\\*-]{1,3}(?![^\s`])"
)
_NUMBER: Final = re.compile(r"\d+(?:[ ,]\d{3})+")
_SYMBOL: Final = re.compile(r"\W+")
_DECORATION: Final = re.compile(r"[-=*~:|+/>]|[-=*~]+|:?-+:?")
_SEPARATORS: Final = re.compile("[-_.']+")
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[-_.'](?=\d)")
_CAMEL: Final = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HUMP: Final = re.compile("[a-z][A-Z]")

_ELISION: Final = re.compile(r"(?i)^(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'(?=\w)")
_CONTRACTION: Final = re.compile(r"(?i)'(?:s|re|ve|ll|d|m|t)$")
_NEGATION: Final = re.compile(r"(?i)\w+n't")


def terms(*texts: str) -> dict[str, int]:
    """Return how often each term occurs in a passage, given with whatever it stands under.

    `terms(name, *headings, text)` makes a passage found by its document's name and its headings.
    """
    tokens = Counter(chain.from_iterable(map(_tokens, texts)))
    language = _language(tokens)
    counts: dict[str, int] = {}
    for token, times in tokens.items():
        for term in _passage_terms(token, language):
            counts[term] = counts.get(term, 0) + times
    return counts


def query_terms(query: str) -> list[list[str]]:
    """Return one group per word of a question: the terms that count as that word.

    A word is stemmed in both languages, since a question is put to passages of either. Words that
    say nothing are left out unless nothing else was asked. At most `MAX_QUERY_TERMS` groups.
    """
    tokens = _tokens(query)
    language = _language(Counter(tokens))
    asked = [word for token in tokens for word in _asked_words(token)]
    telling = [word for word in asked if not _is_stop_word(word, language)]
    groups = dict.fromkeys(group for word in telling or asked for group in _alternatives(word))
    return [list(group) for group in groups][:MAX_QUERY_TERMS]


def language_of_text(text: str) -> Language | None:
    """Return whether a text is English or French by its small words; None if they do not tell."""
    return _language(Counter(_tokens(text)))


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    for piece in _SLICES.findall(text):
        found += _TOKEN.findall(_DECIMAL_COMMA.sub(".", _folded(piece)))
    return found


def _folded(text: str) -> str:
    if text.isascii():
        return text
    text = _ANY_LETTER.sub(_letters_of, _DIGIT_SPACES.sub(",", text))
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))


def _letters_of(match: re.Match[str]) -> str:
    return _LETTERS[match[0]]


def _language(tokens: Mapping[str, int]) -> Language | None:
    french = english = 0
    for token, times in tokens.items():
        is_french, is_english = _evidence(token)
        french += times * is_french
        english += times * is_english
    if french == english:
        return None
    return Language.FR if french > english else Language.EN


def _evidence(token: str) -> tuple[bool, bool]:
    """Tell whether a token speaks for French, and whether for English."""
    word = token.casefold()
    shortened = "'" in word
    return (
        word in _EVIDENCE[Language.FR] or (shortened and _ELISION.match(word) is not None),
        word in _EVIDENCE[Language.EN] or (shortened and _CONTRACTION.search(word) is not None),
    )


def _is_stop_word(word: str, language: Language | None) -> bool:
    if (len(word) > 1 and word.isupper()) or _HUMP.search(word):
        return False  # IT, WHO, OR: an acronym; or an identifier
    return word.casefold() in (_STOP_WORDS[language] if language else _IN_BOTH)


def _passage_terms(token: str, language: Language | None) -> tuple[str, ...]:
    # A run without spaces is half a sentence: it hardly comes again and has two terms a character.
    is_word = token.isascii() or not _UNSPACED_RUN.match(token)
    kept = is_word and len(token) <= _MAX_KEPT_CHARS
    return _kept_terms(token, language) if kept else _terms_of(token, language)


@lru_cache(maxsize=_MAX_KEPT)
def _kept_terms(token: str, language: Language | None) -> tuple[str, ...]:
    return _terms_of(token, language)


def _terms_of(token: str, language: Language | None) -> tuple[str, ...]:
    whole, parts = _analysed(token)
    words = [word for word in (whole, *parts) if word and not _is_stop_word(word, language)]
    return tuple(term for word in words for term in _passage_forms(word, language))


def _passage_forms(word: str, language: Language | None) -> Iterable[str]:
    return [*word, *_pairs(word)] if _UNSPACED_RUN.match(word) else _stems(word, language)


def _asked_words(token: str) -> list[str]:
    whole, parts = _analysed(token)
    if whole and _HUMP.search(token):
        return [whole]  # the parts of an identifier would drown the other words
    return [whole, *parts] if whole else parts


def _alternatives(word: str) -> list[tuple[str, ...]]:
    if _UNSPACED_RUN.match(word):
        return [(pair,) for pair in _pairs(word) or [word]]
    return [tuple(dict.fromkeys((*_stems(word, Language.EN), *_stems(word, Language.FR))))]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _analysed(token: str) -> tuple[str, list[str]]:
    """Return a token as a whole where it is a compound (else ""), and its parts."""
    if _SYMBOL.fullmatch(token):
        return "", [] if _DECORATION.fullmatch(token) else [token]
    if _NUMBER.fullmatch(token):
        parts = re.split("[ ,]", token)
        return "".join(parts), parts
    if _NEGATION.fullmatch(token):
        return "", []
    if "'" in token:
        token = _CONTRACTION.sub("", _ELISION.sub("", token))
    parts = [part for piece in _SEPARATORS.split(token.rstrip("+#")) for part in _parts(piece)]
    if token[-1] in "+#":
        return token, parts
    if len(parts) < 2 or _UNSPACED_RUN.search(token):  # noqa: PLR2004  two parts make a compound
        return "", parts
    return _SEPARATORS.sub("", _BETWEEN_DIGITS.sub("\0", token)).replace("\0", "."), parts


def _parts(piece: str) -> list[str]:
    if piece.isascii():
        return _CAMEL.findall(piece) if _HUMP.search(piece) else [piece] * bool(piece)
    return [part for part in _UNSPACED_SPLIT.split(piece) if part]


def _stems(word: str, language: Language | None) -> tuple[str]:
    folded = word.casefold()[:MAX_TERM_CHARS]
    if not (folded.isascii() and folded.isalpha()):
        return (folded,)
    return (_stemmers.of(language or Language.EN).stemWord(folded),)


class _Stemmers(threading.local):
    """One stemmer a thread and language: PyStemmer's are not to be shared."""

    def __init__(self) -> None:
        self._made: dict[Language, Stemmer] = {}

    def of(self, language: Language) -> Stemmer:
        if language not in self._made:
            self._made[language] = Stemmer(_ALGORITHMS[language])
        return self._made[language]


_stemmers = _Stemmers()
