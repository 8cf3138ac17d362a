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
    again = candidate("again.md", 8, "Une liste dans React : comment ? Afficher.")
    meant = candidate("lists.md", 0.8, "How do you show many of the same things? Use map for it.")
    awaited = {(chance.vault, chance.path)}
    question = "Comment afficher une liste dans React ?"
    found, weighing = ranked(question, [chance, again], [meant], without_vectors=awaited)
    assert weighing.foreign
    assert paths(found) == ["lists.md", "chance.md", "again.md"]


_ERROR = "The search service ran out of memory: ERR-4021-B. It was on the same day."
_NEARER = candidate("other.md", 0.5, "The search service was down for an hour, and it was noticed.")


def test_a_code_in_a_question_of_another_language_decides() -> None:
    found, weighing = ranked(
        "Que s'est-il passé lors de ERR-4021-B la semaine dernière ?",
        [candidate("error.md", 20, _ERROR), candidate("chance.md", 5, "A semaine, as they say.")],
        [_NEARER, candidate("error.md", 0.3, _ERROR)],
    )
    assert weighing.foreign
    assert weighing.lead == 1.0
    assert paths(found)[0] == "error.md"


def test_a_word_that_two_languages_share_by_chance_does_not() -> None:
    chance = "The dernière of a play is its last night, and it is sold out."
    found, weighing = ranked(
        "Que s'est-il passé lors de la panne de la semaine dernière ?",
        [candidate("chance.md", 9, chance)],
        [_NEARER, candidate("chance.md", 0.3, chance)],
    )
    assert weighing.foreign
    assert paths(found)[0] == "other.md"


def test_a_name_that_several_documents_have_does_not_make_one_the_answer() -> None:
    def weight_where(text: str) -> float:
        lexical = [candidate("error.md", 20, _ERROR), candidate("copy.md", 6, text)]
        question = "Que s'est-il passé lors de ERR-4021-B la semaine dernière ?"
        return ranked(question, lexical, [_NEARER])[1].weight

    assert weight_where("Mentions ERR-4021-B as well") < 0.5 < weight_where("Mentions ERR-5000-C")


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


def test_where_nothing_is_near_nearness_alone_is_no_answer() -> None:
    far = [candidate("a.md", 0.15, "general remarks"), candidate("b.md", 0.1, "more of them")]
    assert ranked("zwei", [], far)[0] == []
    worded = [candidate("b.md", 3.0, "more of them")]
    assert paths(ranked("zwei more", worded, far)[0]) == ["b.md"]


def test_where_nothing_is_near_nearness_tells_apart_what_has_the_same_words() -> None:
    texts = {"a.md": "the same remarks", "b.md": "the same remarks again"}
    words = [candidate(path, 3.0, text) for path, text in texts.items()]
    far = [candidate("b.md", 0.15, texts["b.md"]), candidate("a.md", 0.05, texts["a.md"])]
    assert paths(ranked("remarks", words, far)[0]) == ["b.md", "a.md"]


def test_a_far_passage_shows_only_if_it_shares_words_with_the_question() -> None:
    dense = [
        candidate("near.md", 0.6, "one"),
        candidate("worded.md", 0.19, "two"),
        candidate("far.md", 0.19, "three"),
    ]
    found, _ = ranked("zwei", [candidate("worded.md", 4.0, "two")], dense)
    assert sorted(paths(found)) == ["near.md", "worded.md"]
