"""Where sentences end, in French and in English."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.retrieval.sentences import repeated_start, sentences


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Il vient. Elle part !  Qui\u00a0? Moi.",
            ["Il vient.", "Elle part !", "Qui\u00a0?", "Moi."],
        ),
        ("« Bonjour. » Puis rien.", ["« Bonjour. »", "Puis rien."]),
        (
            "He said “no.” Then (he left.) It rained.",
            ["He said “no.”", "Then (he left.)", "It rained."],
        ),
        ("M. Dupont, Mme. Roy et le Dr. Li. Fin.", ["M. Dupont, Mme. Roy et le Dr. Li.", "Fin."]),
        ("Voir p. 12, fig. 3 et art. 4. Ensuite.", ["Voir p. 12, fig. 3 et art. 4.", "Ensuite."]),
        ("Modern art. Old masters.", ["Modern art.", "Old masters."]),
        ("Tools, e.g. in the U.S. Army. Done.", ["Tools, e.g. in the U.S. Army.", "Done."]),
        (
            "Noix, etc. et poires. Noix, etc. Puis.",
            ["Noix, etc. et poires.", "Noix, etc.", "Puis."],
        ),
        ("He waits... then goes. Wait… What?", ["He waits... then goes.", "Wait…", "What?"]),
        ("« Quoi ? » dit-il. Rien.", ["« Quoi ? » dit-il.", "Rien."]),
        ("1. First of all. Then 3.14 is pi.", ["1. First of all.", "Then 3.14 is pi."]),
        ("It was in 1999. It is over.", ["It was in 1999.", "It is over."]),
        ("One paragraph\n\nAnother. one", ["One paragraph", "Another.", "one"]),
        ("今日は。「明日。」次", ["今日は。", "「明日。」", "次"]),
        ("no end", ["no end"]),
        (" \n\n ", []),
        ("", []),
    ],
)
def test_a_sentence_ends_where_a_reader_would_say(text: str, told: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == told


@given(st.text(alphabet="aA1.!?… \n»”)。é", max_size=60))
def test_sentences_leave_out_blanks_only(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(
        text.split()
    )
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.parametrize(
    "hostile", ["." * 300_000, ". " * 50_000, ".»" * 100_000, "1. " * 50_000, "\n \n" * 100_000]
)
def test_hostile_text_costs_what_its_length_costs(hostile: str) -> None:
    start = time.process_time()
    sentences(hostile)
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("One. Two.", "Two. Three.", "Two."),
        ("One. Two. Three.", "Two. Three. Four.", "Two. Three."),
        ("One. Two.", "Three. Four.", ""),
        ("One. Two.", "Two and a half. Three.", ""),
        ("```\na\n```", "```py\nb\n```", ""),
        ("Look here:", "Look here:\n\n- item", "Look here:"),
    ],
)
def test_what_a_text_repeats_of_another_is_known(before: str, after: str, told: str) -> None:
    assert after[: repeated_start(before, after)] == told
