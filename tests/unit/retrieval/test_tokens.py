import pytest

from archivolt.retrieval.tokens import token_upper_bound


# True counts of XLM-RoBERTa's tokenizer (the one of bge-m3), taken once.
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 5),
        ("Hello world", 6),
        ("Le composant reçoit ses données par les props.", 16),
        ("# gchgrp\n\n> Dieser Befehl ist ein Alias von `chgrp`.", 25),
        ("const [state, setState] = useState(0);", 19),
        ("此命令为 `abrt-cli` 的别名。", 19),
        ("Привет, как дела?", 10),
    ],
)
def test_the_bound_is_never_below_the_true_count(text: str, tokens: int) -> None:
    assert token_upper_bound(text) >= tokens


def test_prose_is_not_counted_by_the_letter() -> None:
    prose = "The answer to this question depends on the number of documents in the vault. " * 20
    assert token_upper_bound(prose) < len(prose) / 2


def test_text_without_words_is_counted_by_the_letter() -> None:
    assert token_upper_bound("f3a9" * 100) >= 400
