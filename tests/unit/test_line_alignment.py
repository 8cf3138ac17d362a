"""Lines of two texts that are the same lines."""

import time

from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.line_alignment import same_lines

LINES = st.lists(st.sampled_from("abcdef"), max_size=30)


@given(LINES, LINES)
def test_stretches_are_equal_ordered_and_apart(old: list[str], new: list[str]) -> None:
    old_end = new_end = 0
    for stretch in same_lines(old, new):
        assert stretch.size > 0
        assert stretch.old >= old_end
        assert stretch.new >= new_end
        old_end, new_end = stretch.old + stretch.size, stretch.new + stretch.size
        assert old[stretch.old : old_end] == new[stretch.new : new_end]
    assert old_end <= len(old)
    assert new_end <= len(new)


@given(LINES)
def test_a_text_is_the_same_as_itself(lines: list[str]) -> None:
    assert same_lines(lines, lines) == ([(0, 0, len(lines))] if lines else [])


def test_a_line_that_moved_is_between_those_that_did_not() -> None:
    assert same_lines(list("abcde"), list("acdbe")) == [(0, 0, 1), (2, 1, 2), (4, 4, 1)]


def test_long_texts_with_changes_everywhere_take_no_time() -> None:
    old = [f"line {n}" if n % 7 else "" for n in range(60_000)]
    new = [f"{line} changed" if n % 5 == 0 else line for n, line in enumerate(old)]

    started = time.process_time()
    kept = sum(stretch.size for stretch in same_lines(old, new))

    assert kept >= 48_000
    assert time.process_time() - started < 5
