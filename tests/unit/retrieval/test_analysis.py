import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archivolt.domain.limits import MAX_QUERY_TERMS, MAX_TERM_CHARS
from archivolt.domain.messages import Language
from archivolt.retrieval.analysis import language_of_text, query_terms, terms


def finds(query: str, passage: str) -> bool:
    """Every word of the query is met by the passage."""
    there = terms(passage)
    groups = query_terms(query)
    return bool(groups) and all(any(term in there for term in group) for group in groups)


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("creer", "Comment créer un composant dans une page"),
        ("créer", "COMMENT CREER UN COMPOSANT"),
        (unicodedata.normalize("NFD", "créé"), "Il est créé hier"),
        ("oeuvre", "L'Œuvre au noir"),
        ("œuvre", "l'oeuvre au noir"),
        ("eau", "Il manque de l'eau"),
        ("eau", "Il manque de l\u2019eau"),
        ("composants", "le composant est là"),
        ("component", "the components are there"),
        ("aujourd'hui", "C'est aujourd\u2019hui"),
        ("École", "d'ecole"),
        ("Straße", "STRASSE"),
        ("file", "the \ufb01le"),
        ("Привет", "ну привет, мир"),
        ("ёлка", "елка"),
        ("東京", "私は東京都に行く"),
        ("猫", "三匹の猫がいる"),
        ("서울", "서울에서"),
        ("กรุงเทพ", "ฉันอยู่กรุงเทพมหานคร"),
        ("हिन्दी", "यह हिन्दी है"),
        ("ガス", "ガス"),
    ],
)
def test_a_word_is_found_in_every_way_of_writing_it(query: str, passage: str) -> None:
    assert finds(query, passage)
    assert finds(unicodedata.normalize("NFD", query), unicodedata.normalize("NFC", passage))
    assert finds(unicodedata.normalize("NFC", query), unicodedata.normalize("NFD", passage))


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("useState", "const [a, b] = useState(0)"),
        ("state", "const [a, b] = useState(0)"),
        ("usestate", "const [a, b] = useState(0)"),
        ("use_state", "useState"),
        ("max_tool_calls", "MAX_TOOL_CALLS = 40"),
        ("calls", "MAX_TOOL_CALLS = 40"),
        ("Node.js", "NodeJS"),
        ("app.py", "see src/app.py"),
        ("src/app.py", "see src/app.py:12"),
        ("C++", "written in C++."),
        ("C#", "written in C#"),
        ("[[", "`[[` is a test"),
        ("%", "%\n\nmanage jobs"),
        ("upregulation", "up-regulated genes"),
        ("IL6", "levels of IL-6"),
        ("__init__", "def __init__(self):"),
        ("v1.2.3", "version v1.2.3 is out"),
        ("IT", "ask the IT department"),
    ],
)
def test_code_words_and_names_are_found(query: str, passage: str) -> None:
    assert finds(query, passage)


@pytest.mark.parametrize("written", ["10000", "10,000", "10 000", "10\u00a0000", "10\u202f000"])
def test_a_grouped_number_is_one_number(written: str) -> None:
    assert "10000" in terms(f"pour {written} euros")


def test_a_decimal_comma_is_a_decimal_point() -> None:
    assert terms("3,14") == terms("3.14")


def test_a_variable_and_a_language_keep_their_signs_apart() -> None:
    assert not finds("C#", "written in C++")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Le chat est dans la maison", Language.FR),
        ("The cat is in the house", Language.EN),
        ("chat house", None),
        ("car insurance", None),
        ("l'hôtel", Language.FR),
        ("Привет", None),
        ("", None),
    ],
)
def test_small_words_tell_the_language(text: str, language: Language | None) -> None:
    assert language_of_text(text) is language


def test_words_that_say_nothing_are_left_out_of_a_question() -> None:
    assert query_terms("What is the state of the component?") == query_terms("state component")


def test_a_question_of_small_words_alone_is_still_asked() -> None:
    assert query_terms("to be or not to be") == [["to"], ["be"], ["or"], ["not"]]


def test_a_word_of_the_other_language_is_not_taken_for_a_small_word() -> None:
    assert ["car"] in query_terms("car insurance")


def test_a_question_has_a_bounded_number_of_terms() -> None:
    assert len(query_terms(" ".join(f"w{n}" for n in range(2_000)))) == MAX_QUERY_TERMS


def test_markdown_decoration_gives_no_terms() -> None:
    assert terms("| --- | :-: |\n***\n- > = ---") == {}


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 1_000_000,
        "a" + "\u0301\u0316" * 500_000,
        "漢" * 1_000_000,
        "a-" * 500_000,
        "l'" * 500_000,
        "1,234" * 200_000,
        "\ufdfa" * 100_000,
        "aB" * 500_000,
        "[ " * 500_000,
        "\0" * 1_000_000,
    ],
    ids=lambda text: ascii(text[:3]),
)
def test_hostile_text_costs_seconds_at_most(hostile: str) -> None:
    start = time.process_time()
    found = terms(hostile)
    assert time.process_time() - start < 10
    assert all(len(term) <= MAX_TERM_CHARS for term in found)


@given(st.text(max_size=200))
def test_any_text_is_analysed_alike_in_each_normal_form(text: str) -> None:
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


@example("aI")
@given(st.text(st.sampled_from("abIT eéœ'-_.,12 漢字かกпр+#[%"), max_size=60))
def test_a_passage_is_found_by_its_own_text(text: str) -> None:
    there = terms(text)
    if there:
        assert all(any(term in there for term in group) for group in query_terms(text))
