"""What is shown of a passage."""

from hypothesis import given
from hypothesis import strategies as st

from archivolt.retrieval.analysis import query_terms
from archivolt.retrieval.excerpt import best_sentences

FILLER = "Nothing of interest is said here at all. " * 40


def test_a_short_passage_is_shown_whole() -> None:
    assert best_sentences("Llamas.\n\nAlpacas.", query_terms("llamas")) == "Llamas.\n\nAlpacas."


def test_the_sentences_with_the_most_of_the_questions_words_are_shown() -> None:
    text = f"{FILLER}A llama walks. The llama crosses the bridge at noon. {FILLER}"
    shown = best_sentences(text, query_terms("when do llamas cross the bridge"), limit=100)
    assert "The llama crosses the bridge at noon." in shown
    assert len(shown) <= 100


def test_without_a_word_of_the_question_the_beginning_is_shown() -> None:
    shown = best_sentences(FILLER, query_terms("llamas"), limit=100)
    assert FILLER.startswith(shown)


def test_a_sentence_that_never_ends_is_cut() -> None:
    assert len(best_sentences("llama " * 500, query_terms("llama"), limit=100)) <= 100


@given(st.text(max_size=400), st.text(max_size=40), st.integers(1, 100))
def test_an_excerpt_is_a_part_of_its_passage_within_the_limit(
    text: str, question: str, limit: int
) -> None:
    shown = best_sentences(text, query_terms(question), limit=limit)
    assert shown in text
    assert len(shown) <= max(limit, 0)
