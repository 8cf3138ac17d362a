"""In which language a message wants its answer."""

import re
from typing import Final

from archivolt.domain.messages import Language
from archivolt.retrieval.analysis import language_of_text

# What French writes and English does not; and the one question word that English writes too.
_FRENCH_LETTERS: Final = re.compile("[àâçèéêëîïôùûüœ]", re.IGNORECASE)
_FRENCH_QUESTION: Final = re.compile(r"\s*comment\s+\w+(?:er|ir|re)\b", re.IGNORECASE)

# A greeting has no small words; what follows one without a stop may be the name of anything.
_FRENCH_GREETING: Final = re.compile(
    r"\s*(?:bonjour|bonsoir|salut|coucou|merci|aide)"
    r"(?:\s+(?:archivolt|beaucoup|bien|toi|tout le monde))?\s*(?:[.,;:!?\u2026]|$)",
    re.IGNORECASE,
)
_FRENCH: Final = (_FRENCH_QUESTION, _FRENCH_GREETING)


def answer_language(message: str, preferred: Language) -> Language:
    """Return the message's own language, or where it does not tell, the preferred one."""
    told = language_of_text(message)
    if told is not None:
        return told
    if _FRENCH_LETTERS.search(message) or any(each.match(message) for each in _FRENCH):
        return Language.FR
    return preferred
