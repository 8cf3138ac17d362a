"""What two languages write alike."""

import pytest

from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.cognates import cognate_scores
from tests.builders import vault_ref


def passages(*texts: str, headings: tuple[str, ...] = ()) -> list[Candidate]:
    return [
        Candidate(
            vault=vault_ref(),
            path=VaultPath(f"{number}.md"),
            generation=Generation("1-a"),
            passage=Passage(number=0, text=text, headings=headings),
            score=1.0,
        )
        for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("¿Cuándo se inventó la televisión?", "Television was invented in Europe."),
        ("Qui était Napoléon ?", "NAPOLEON was an emperor."),
        ("Was geschah 1789?", "The revolution of 1789."),
        ("Где находится Москва?", "Москвы не видно."),
    ],
)
def test_names_numbers_and_words_of_one_origin_are_found(question: str, text: str) -> None:
    other, alike = cognate_scores(question, passages("Nothing of this sort.", text))
    assert alike > other == 0


def test_a_number_is_the_whole_number_and_short_words_are_none() -> None:
    assert cognate_scores("1789 the cat", passages("17890 and 178", "A cat, the cat.")) == [0, 0]


def test_what_few_passages_have_counts_more() -> None:
    rare, common, both = cognate_scores(
        "général Bonaparte", passages("Bonaparte.", "A general.", "General Bonapartes.", "General")
    )[:3]
    assert both > rare > common > 0


def test_headings_count_as_text() -> None:
    assert cognate_scores("la révolution", passages("", headings=("Revolutions",)))[0] > 0


def test_a_question_without_a_long_word_is_like_nothing() -> None:
    assert cognate_scores("a b c ?", passages("a b c")) == [0.0]
    assert cognate_scores("revolution", []) == []
