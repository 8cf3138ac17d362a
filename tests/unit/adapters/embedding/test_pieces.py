"""Texts in amounts: whatever the text, nothing is lost and every piece fits."""

from hypothesis import given
from hypothesis import strategies as st

from archivolt.adapters.embedding.pieces import batches, pieces_within
from archivolt.retrieval.tokens import token_upper_bound


@given(st.text(max_size=400), st.integers(min_value=12, max_value=60))
def test_the_pieces_of_a_text_are_the_text_and_each_fits(text: str, room: int) -> None:
    pieces = pieces_within(text, max_tokens=room, count=token_upper_bound)
    assert "".join(pieces) == text
    assert all(token_upper_bound(piece) <= room for piece in pieces)


def test_a_text_that_fits_stays_whole() -> None:
    assert pieces_within("one two", max_tokens=2, count=lambda text: len(text.split())) == [
        "one two"
    ]


def test_words_stay_whole_where_they_fit() -> None:
    pieces = pieces_within("one two six", max_tokens=5, count=len)
    assert [piece.strip() for piece in pieces] == ["one", "two", "six"]


@given(
    st.lists(st.text(max_size=30), max_size=40),
    st.integers(min_value=1, max_value=9),
    st.integers(min_value=1, max_value=60),
)
def test_batches_keep_the_order_and_both_bounds(texts: list[str], most: int, room: int) -> None:
    made = list(batches(texts, max_texts=most, max_tokens=room, count=len))
    assert [text for batch in made for text in batch] == texts
    for batch in made:
        assert 0 < len(batch) <= most
        assert len(batch) == 1 or sum(map(len, batch)) <= room
