"""How long one call works on many files."""

import pytest

from archivolt.domain.limits import MAX_MANY_FILES_SECONDS, MAX_PARALLEL_FILES
from archivolt.vaults.many_files import deadline_of, work_through
from tests.fakes.clock import FrozenClock

PART = MAX_PARALLEL_FILES * 4


@pytest.mark.parametrize(
    ("seconds_a_part", "parts"), [(1, MAX_MANY_FILES_SECONDS - 1), (9, 2), (15, 1), (60, 1)]
)
def test_no_part_is_begun_that_could_not_end_in_time(seconds_a_part: int, parts: int) -> None:
    clock = FrozenClock()
    ended: list[int] = []

    def work(number: int) -> int:
        ended.append(number)
        if len(ended) % PART == 0:
            clock.advance(seconds=seconds_a_part)
        return number

    done = work_through(range(PART * 30), work, clock=clock, deadline=deadline_of(clock))

    assert done == list(range(PART * parts))
