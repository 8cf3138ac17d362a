"""The languages the product speaks, and a sentence in each of them (decision 8)."""

from enum import StrEnum
from typing import NamedTuple


class Language(StrEnum):
    """A language the product speaks."""

    EN = "en"
    FR = "fr"


class Message(NamedTuple):
    """One sentence in each language; `{name}` stands for an error's detail."""

    en: str
    fr: str

    def spoken(self, language: Language) -> str:
        """Return the sentence in a language."""
        return self.fr if language is Language.FR else self.en
