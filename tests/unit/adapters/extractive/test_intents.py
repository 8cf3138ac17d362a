"""What a message wants, told by a few patterns."""

import pytest

from archivolt.adapters.extractive.intents import Intent, intent_of

MESSAGES = [
    (
        Intent.GREETING,
        ["Bonjour !", "salut", "Hello", "hi there", "Good morning!", "Coucou, ça va ?"],
    ),
    (Intent.THANKS, ["Merci beaucoup", "thanks!", "Thank you so much", "un grand merci"]),
    (
        Intent.ABOUT_ITSELF,
        [
            *("help", "Aide-moi", "Qui es-tu ?", "What can you do?", "Comment ça marche ?"),
            *("Bonjour, que sais-tu faire ?", "Hi Archivolt, who are you?"),
        ],
    ),
    (
        Intent.VAULTS,
        [
            "What is in my vaults?",
            "what's in my vaults",
            "Which documents do I have?",
            "list my vaults",
            "Quels sont mes coffres ?",
            "Qu'y a-t-il dans mes coffres ?",
            "que contiennent mes documents ?",
            "Liste mes coffres",
            "Salut, liste mes coffres",
        ],
    ),
    (
        Intent.QUESTION,
        [
            "Bonjour, comment utiliser useState ?",
            "What is a vault?",
            "hello world program in C",
            "Quels documents parlent de l'audit ?",
            "merci de me dire où est le contrat",
            "list my vaults and tell me what each of them says about the new payment service",
            "",
            "?",
            "上海",
        ],
    ),
]


@pytest.mark.parametrize(
    ("intent", "message"), [(intent, message) for intent, all_ in MESSAGES for message in all_]
)
def test_a_message_is_understood(intent: Intent, message: str) -> None:
    assert intent_of(message) is intent
