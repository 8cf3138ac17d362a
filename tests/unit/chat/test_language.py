"""In which language a message wants its answer."""

import pytest

from archivolt.chat.language import answer_language
from archivolt.domain.messages import Language

EN, FR = Language.EN, Language.FR


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Where is the key?", EN),
        ("Où est la clé ?", FR),
        ("Comment utiliser useState ?", FR),
        ("comment configurer Qdrant", FR),
        ("Résumé", FR),
        ("bonjour", FR),
        ("Salut !", FR),
        ("Merci beaucoup.", FR),
        ("aide", FR),
        ("Bonjour, what is the key?", EN),
    ],
)
def test_a_message_that_tells_its_language_is_answered_in_it(
    message: str, language: Language
) -> None:
    assert answer_language(message, EN) is language
    assert answer_language(message, FR) is language


@pytest.mark.parametrize(
    "message", ["useState", "42", "", "comment", "Comment count", "Salut Salon"]
)
def test_a_message_that_does_not_tell_is_answered_as_the_caller_prefers(message: str) -> None:
    assert answer_language(message, EN) is EN
    assert answer_language(message, FR) is FR
