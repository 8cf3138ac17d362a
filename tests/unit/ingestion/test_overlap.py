"""Passages that go on with a section repeat the last sentences before them."""

from collections.abc import Sequence
from itertools import count, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.domain.ingestion import Passage
from archivolt.domain.limits import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS
from archivolt.ingestion.splitting import split
from archivolt.retrieval.sentences import repeated_start
from archivolt.retrieval.tokens import token_upper_bound

BUDGET, OVERLAP = 24, 8


def words(text: str) -> int:
    """A counter a reader can follow: one token a word."""
    return len(text.split())


def cut(markdown: str) -> list[Passage]:
    return split(markdown, budget=BUDGET, count=words, overlap=OVERLAP)


def sentence(number: int, length: int = 4) -> str:
    return " ".join([f"Word{number}", *(f"w{number}x{each}" for each in range(length - 2)), "end."])


def repeated(passages: Sequence[Passage]) -> list[str]:
    """Return what each passage but the first repeats of the one before it."""
    return [
        after.text[: repeated_start(before.text, after.text)]
        for before, after in pairwise(passages)
    ]


def put_together(passages: Sequence[Passage]) -> str:
    """Return the words of passages one after the other, what is repeated once."""
    text = passages[0].text
    for before, after in pairwise(passages):
        text += f" {after.text[repeated_start(before.text, after.text) :]}"
    return " ".join(text.split())


def test_the_parts_of_a_long_paragraph_share_sentences() -> None:
    passages = cut(" ".join(sentence(n) for n in range(12)))
    assert repeated(passages) == [
        f"{sentence(2)} {sentence(3)}",
        f"{sentence(6)} {sentence(7)}",
    ]
    assert passages[1].text == " ".join(sentence(n) for n in range(2, 8))


def test_what_is_repeated_may_be_of_several_paragraphs() -> None:
    passages = cut("\n\n\n".join(sentence(n) for n in range(8)))
    assert repeated(passages)[0] == f"{sentence(4)}\n\n{sentence(5)}"


def test_a_passage_begins_at_the_line_of_what_it_repeats() -> None:
    text = "\n\n\n".join(f"{sentence(2 * n)}\n{sentence(2 * n + 1)}" for n in range(9))
    lines = text.split("\n")
    passages = cut(f"# Title\n\n{text}\n")
    assert len(passages) > 2
    for passage in passages:
        assert passage.line is not None
        assert lines[passage.line - 3] == passage.text.split("\n")[0]


def test_a_sentence_that_introduces_code_is_with_it() -> None:
    code = "```\n" + "\n".join(f"line {n}" for n in range(6)) + "\n```"
    passages = cut(f"{sentence(1, 12)}\n\nUse it so:\n\n{code}\n")
    assert passages[1].text == f"Use it so:\n\n{code}"


@pytest.mark.parametrize(
    "before",
    [
        "- an item\n- another item",
        "```\nx = 1. y = 2.\n```",
        "| a | b |\n|---|---|\n| 1. | 2. |",
        "    indented code. more code.",
        "> A quote. Another one.",
        "<Note> Text. More.",
    ],
)
def test_nothing_but_running_text_is_repeated(before: str) -> None:
    passages = cut(f"{sentence(1, 10)}\n\n{before}\n\n{sentence(2, 14)}")
    assert passages[-1].text == sentence(2, 14)


@pytest.mark.parametrize("between", ["# Title\n\n", "<!-- page 2 -->\n"])
def test_nothing_is_repeated_of_another_section_or_page(between: str) -> None:
    passages = cut(f"{sentence(1, 16)} {sentence(2)}\n\n{between}{sentence(3, 12)}")
    assert [passage.text for passage in passages] == [
        f"{sentence(1, 16)} {sentence(2)}",
        sentence(3, 12),
    ]


def test_half_a_sentence_is_not_repeated() -> None:
    passages = cut(f"{sentence(0, 6)} {sentence(1, 20)} {sentence(2)}\n\n{sentence(3, 20)}")
    assert passages[1].text == f"w1x15 w1x16 w1x17 end. {sentence(2)}"
    assert repeated(passages) == ["", sentence(2)]


def test_what_fills_a_passage_is_not_cut_for_the_sake_of_repeating() -> None:
    whole = sentence(2, BUDGET)
    assert [passage.text for passage in cut(f"{sentence(1)}\n\n{whole}")] == [sentence(1), whole]


def test_what_is_repeated_makes_no_small_section_a_big_one() -> None:
    text = f"# A\n\n{sentence(0, 14)} {sentence(1, 8)}\n\nTwo.\n\n## B\n\n{sentence(3)}"
    tail = cut(text)[1]
    assert tail.text == f"{sentence(1, 8)}\n\nTwo.\n\n## B\n\n{sentence(3)}"


_SENTENCES = (
    "Word{0} and more.",
    "Word{0} and very much more than anybody would want to read.",
    "M. Roy{0} vient.",
    "« Ah{0} ! » dit-il.",
    "See p. {0}, e.g. here{0}.",
    "Non{0} ?",
)
_PARAGRAPHS = st.lists(
    st.lists(st.sampled_from(_SENTENCES), min_size=1, max_size=14), min_size=1, max_size=5
)


@settings(max_examples=60)
@given(_PARAGRAPHS)
def test_every_word_is_there_and_what_is_repeated_is_whole_sentences(
    paragraphs: list[list[str]],
) -> None:
    numbers = count()
    written = [[each.format(next(numbers)) for each in paragraph] for paragraph in paragraphs]
    text = "\n\n".join(" ".join(paragraph) for paragraph in written)
    passages = cut(text)
    assert all(words(passage.text) <= BUDGET for passage in passages)
    assert passages == cut(text)
    assert put_together(passages) == " ".join(text.split())
    known = tuple(each for paragraph in written for each in paragraph)
    for shared in filter(None, repeated(passages)):
        assert words(shared) <= OVERLAP
        assert shared.startswith(known)
        assert shared.endswith(known)


def test_an_edit_at_one_place_changes_few_passages() -> None:
    paragraphs = [" ".join(sentence(20 * p + n, 7) for n in range(3 + p % 5)) for p in range(120)]
    before = _texts(paragraphs)
    for at in (0, 40, 80, 119):
        changed = list(paragraphs)
        changed[at] += " A new sentence stands here."
        assert len(_texts(changed) - before) <= 4
    assert len(before) > 40


def _texts(paragraphs: Sequence[str]) -> set[str]:
    passages = split(
        "\n\n".join(paragraphs),
        budget=CHUNK_TOKENS,
        count=token_upper_bound,
        overlap=CHUNK_OVERLAP_TOKENS,
    )
    return {passage.text for passage in passages}
