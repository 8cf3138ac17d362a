"""One list of two: the mix, its weight, and what is left out."""

import pytest

from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.analysis import query_terms
from archivolt.retrieval.fusion import (
    coverage,
    dense_floor,
    evenness,
    fuse,
    is_foreign,
    lead,
    lexical_weight,
)
from tests.builders import vault_ref


def candidate(
    path: str,
    score: float,
    *,
    number: int = 0,
    text: str = "",
    vault: VaultRef | None = None,
) -> Candidate:
    return Candidate(
        vault=vault or vault_ref(),
        path=VaultPath(path),
        generation=Generation("1-a"),
        passage=Passage(number=number, text=text or f"{path} {number}"),
        score=score,
    )


def test_what_both_lists_know_comes_before_what_one_of_them_knows() -> None:
    ranked = fuse(
        [candidate("words", 10), candidate("both", 9)],
        [candidate("meaning", 0.8), candidate("both", 0.75)],
        weight=0.6,
    )
    assert [each.candidate.path for each in ranked] == ["both", "words", "meaning"]


@pytest.mark.parametrize(("weight", "first"), [(0.8, "words"), (0.2, "meaning")])
def test_the_weight_decides_between_the_lists(weight: float, first: str) -> None:
    ranked = fuse([candidate("words", 10)], [candidate("meaning", 0.8)], weight=weight)
    assert ranked[0].candidate.path == first


def test_the_words_of_a_document_without_vectors_speak_for_its_meaning_as_far_as_they_count() -> (
    None
):
    words, meaning = candidate("new", 10), candidate("old", 0.8)
    awaited = {(words.vault, words.path)}
    for weight, first in ((0.8, "new"), (0.3, "old")):
        ranked = fuse(
            [words, candidate("old", 8)], [meaning], weight=weight, without_vectors=awaited
        )
        assert ranked[0].candidate.path == first
    assert fuse([words], [], weight=1.0, without_vectors=awaited)[0].score == pytest.approx(1.0)


def test_a_document_counts_by_its_best_passage_in_each_list() -> None:
    ranked = fuse(
        [candidate("a", 10, number=0), candidate("b", 10)],
        [candidate("a", 0.8, number=7), candidate("b", 0.4)],
        weight=0.5,
    )
    assert ranked[0].candidate.path == "a"
    assert ranked[0].score == pytest.approx(1.0)


def test_at_most_three_passages_of_a_document_are_kept() -> None:
    ranked = fuse([candidate("a", 10 - n, number=n) for n in range(6)], [], weight=1.0)
    assert [each.candidate.passage.number for each in ranked] == [0, 1, 2]


def test_scores_are_between_0_and_1_and_tell_their_parts() -> None:
    [best, other] = fuse([candidate("a", 31.7)], [candidate("b", 0.9)], weight=0.3)
    assert (best.candidate.path, best.dense, best.lexical) == ("b", 0.9, None)
    assert (other.candidate.path, other.dense, other.lexical) == ("a", None, 31.7)
    assert 0 < other.score < best.score <= 1


def test_equal_scores_have_a_stable_order() -> None:
    some = [candidate(name, 5) for name in "cab"]
    assert [each.candidate.path for each in fuse(some, [], weight=1.0)] == ["a", "b", "c"]


def test_no_candidates_make_no_list() -> None:
    assert fuse([], [], weight=0.5) == []


def test_a_vector_that_points_away_is_worth_nothing() -> None:
    ranked = fuse([candidate("a", 1)], [candidate("b", -0.2)], weight=0.5)
    assert [(each.candidate.path, each.score) for each in ranked] == [("a", 0.5), ("b", 0.0)]


def test_a_model_that_finds_all_texts_alike_is_read_on_its_own_scale() -> None:
    wide = [candidate(f"{n}", 0.6 - n / 200) for n in range(100)]
    narrow = [candidate(f"{n}", 0.85 - n / 1000) for n in range(100)]
    assert dense_floor(wide) == dense_floor(narrow[:9]) == dense_floor([]) == 0.3
    assert dense_floor([*narrow, candidate("101", 0.1)]) == dense_floor(narrow)
    assert dense_floor(narrow[:20]) == pytest.approx((0.85 - 0.019) / 0.85)
    assert dense_floor(narrow) == pytest.approx((0.85 - 0.099) / 0.85)
    assert dense_floor([candidate(f"{n}", 0.9) for n in range(100)]) < 1


def test_words_do_not_drown_the_meanings_of_such_a_model() -> None:
    meaning = [candidate(f"{n}", 0.85 - n / 1000) for n in range(100)]
    ranked = fuse([candidate("99", 10)], meaning, weight=0.3)
    assert ranked[0].candidate.path == "0"


def test_coverage_is_the_share_of_the_questions_words_that_are_found() -> None:
    groups = query_terms("How do llamas cross the wooden bridge?")
    found = [candidate("a", 1, text="A llama crosses."), candidate("b", 1, text="The bridge.")]
    assert coverage(groups, found[:1]) == pytest.approx(2 / 4)
    assert coverage(groups, found) == pytest.approx(3 / 4)
    assert coverage(groups, []) == coverage([], found) == 0.0


def test_words_weigh_more_the_more_of_them_are_found() -> None:
    weights = [lexical_weight(covered) for covered in (0.0, 0.4, 0.6, 0.8, 1.0)]
    assert weights == sorted(weights)
    assert weights[0] < 0.5 < weights[-1]


def test_words_that_ten_documents_have_alike_weigh_less() -> None:
    weights = [lexical_weight(1.0, even=even) for even in (0.0, 0.6, 0.7, 0.8, 1.0)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == weights[1] > 0.5 > weights[-1] == weights[-2]
    assert lexical_weight(0.0, even=1.0) == lexical_weight(0.0)


def test_evenness_compares_the_tenth_document_with_the_best_one() -> None:
    ten = [candidate(name, 10 - number) for number, name in enumerate("abcdefghij")]
    assert evenness(ten) == pytest.approx(1 / 10)
    assert evenness([*ten, candidate("a", 9, number=2)]) == pytest.approx(1 / 10)
    assert evenness(ten[:9]) == evenness([]) == 0.0


def test_words_weigh_little_in_another_language_however_many_are_found() -> None:
    weights = [lexical_weight(covered, foreign=True) for covered in (0.0, 0.6, 1.0)]
    assert weights == sorted(weights)
    assert weights[-1] < 0.5


def test_a_document_that_is_far_ahead_is_believed_in_another_language_too() -> None:
    def weight(covered: float, ahead: float, *, named: bool) -> float:
        return lexical_weight(covered, foreign=True, ahead=ahead, named=named)

    weights = [weight(1.0, ahead, named=False) for ahead in (0.0, 0.5, 1.0)]
    assert weights == sorted(weights)
    assert weights[-1] == lexical_weight(1.0)
    assert weight(0.2, 1.0, named=False) == lexical_weight(0.2, foreign=True)
    assert weight(0.2, 1.0, named=True) == lexical_weight(1.0)


def test_the_lead_compares_the_second_document_with_the_best_one() -> None:
    best = [candidate("a", 10), candidate("a", 9, number=2)]
    leads = [lead([*best, candidate("b", score)]) for score in (3, 5, 6, 8)]
    assert leads == sorted(leads, reverse=True)
    assert (leads[0], leads[-1], lead(best), lead([])) == (1.0, 0.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("How do I pass props to a component?", True),
        ("Comment passer des props à un composant ?", False),
        ("useState props", False),
    ],
)
def test_a_question_is_foreign_where_most_that_means_the_same_is_in_another_language(
    question: str, foreign: bool
) -> None:
    found = [
        candidate("a", 0.9, text="Passez des props dans un composant avec les accolades."),
        candidate("b", 0.8, text="useState(props)"),
    ]
    assert is_foreign(question, found) is foreign


def test_a_question_is_foreign_to_no_passages_and_to_few_in_another_language() -> None:
    question = "How do I pass props to a component?"
    french = candidate("a", 0.9, text="Passez des props dans un composant avec les accolades.")
    english = candidate("b", 0.8, text="This is how you pass props to the component.")
    assert not is_foreign(question, [])
    assert not is_foreign(question, [french, english, english])
