"""What a question calls by a name."""

import pytest

from archivolt.retrieval.names import names_in


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Que s'est-il passé lors de ERR-4021-B hier ?", ["ERR-4021-B"]),
        ("Où est 10.2.3.4, et à qui ?", ["10.2.3.4"]),
        ("comment utiliser useState ?", ["useState"]),
        ("à quoi sert l'API de src/main.py", ["API", "src/main.py"]),
        ("Où est née Amélie Kowalczyk ?", ["Amélie", "Kowalczyk"]),
        ("Peut-être. Qui sait ? « Demain », dit-on.", []),
        ("et 4cf44487", ["4cf44487"]),
        ("QUE S'EST-IL PASSÉ LORS DE ERR-4021 ET DE WEB01 ?", ["ERR-4021", "WEB01"]),
        ("GDPR DPIA", ["GDPR", "DPIA"]),
        ("Bonjour\nQuelle heure est-il à Lyon", ["Lyon"]),
        ("à lire : Où est _Kim", ["Kim"]),
        ("..." * 20_000 + " a" * 20_000 + " Kim", ["Kim"]),
        ("…", []),
        ("", []),
    ],
)
def test_a_name_is_a_word_that_every_language_writes_alike(question: str, names: list[str]) -> None:
    assert names_in(question) == names
