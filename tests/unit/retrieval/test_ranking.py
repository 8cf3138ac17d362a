"""The choice of the mix, and what is no answer."""

from collections.abc import Set

import pytest

from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.analysis import query_terms
from archivolt.retrieval.explaining import Weighing
from archivolt.retrieval.fusion import Document, Ranked
from archivolt.retrieval.ranking import by_words_and_meaning
from tests.builders import vault_ref

NOISE = 0.2


def candidate(path: str, score: float, text: str) -> Candidate:
    return Candidate(
        vault=vault_ref(),
        path=VaultPath(path),
        generation=Generation("1-a"),
        passage=Passage(number=0, text=text),
        score=score,
    )


def ranked(
    question: str,
    lexical: list[Candidate],
    dense: list[Candidate],
    *,
    without_vectors: Set[Document] = frozenset(),
) -> tuple[list[Ranked], Weighing]:
    return by_words_and_meaning(
        question,
        query_terms(question),
        lexical,
        dense,
        noise=NOISE,
        without_vectors=without_vectors,
    )


def paths(found: list[Ranked]) -> list[str]:
    return [each.candidate.path for each in found]


def test_a_name_decides_between_passages_in_another_language() -> None:
    found, weighing = ranked(
        "¿Qué descubrió la química Marie Skłodowska sobre la radiactividad?",
        [],
        [
            candidate("rays.md", 0.50, "The discovery of X-rays, and what it was good for."),
            candidate("curie.md", 0.45, "Skłodowska discovered what she called radioactivity."),
        ],
    )
    assert paths(found) == ["curie.md", "rays.md"]
    assert weighing.cognates


def test_words_do_not_speak_for_the_meaning_of_another_languages_passages() -> None:
    chance = candidate("chance.md", 9, "Comment afficher ? Une liste dans React.")
    meant = candidate("lists.md", 0.8, "How do you show many of the same things? Use map for it.")
    awaited = {(chance.vault, chance.path)}
    question = "Comment afficher une liste dans React ?"
    found, weighing = ranked(question, [chance], [meant], without_vectors=awaited)
    assert weighing.foreign
    assert paths(found) == ["lists.md", "chance.md"]


def test_words_that_are_found_need_no_cognates() -> None:
    passage = "The llamas cross the bridge."
    found, weighing = ranked(
        "When do llamas cross the bridge?",
        [candidate("a.md", 9, passage)],
        [candidate("a.md", 0.5, passage), candidate("b.md", 0.4, "It is a llamaland")],
    )
    assert not weighing.cognates
    assert [each.cognates for each in found] == [0.0, 0.0]


def test_a_score_is_whole_where_only_nearness_tells() -> None:
    found, weighing = ranked("pont", [], [candidate("a.md", 0.5, "bridge")])
    assert (weighing.weight, found[0].score) == (0.0, 1.0)


def test_the_best_of_all_has_the_whole_score_without_a_whole_word() -> None:
    found, _ = ranked("la révolution", [], [candidate("a.md", 0.5, "revolution")])
    assert found[0].score == pytest.approx(1.0)


def test_where_nothing_is_near_nearness_says_nothing() -> None:
    far = [candidate("a.md", 0.15, "general remarks"), candidate("b.md", 0.1, "more of them")]
    assert ranked("generals", [], far)[0] == []
    worded = [candidate("b.md", 3.0, "more of them")]
    found, weighing = ranked("more remarks", worded, far)
    assert (paths(found), weighing.weight) == (["b.md"], 1.0)


def test_a_far_passage_shows_only_if_it_shares_words_with_the_question() -> None:
    dense = [
        candidate("near.md", 0.6, "one"),
        candidate("worded.md", 0.19, "two"),
        candidate("far.md", 0.19, "three"),
    ]
    found, _ = ranked("zwei", [candidate("worded.md", 4.0, "two")], dense)
    assert sorted(paths(found)) == ["near.md", "worded.md"]
