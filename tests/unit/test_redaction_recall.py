"""How many secrets of a broad public sample are caught: the promise is 95 %."""

from collections import Counter
from functools import cache

import pytest

from tests.secret_samples import CONTEXTS, Sample, samples

# Whose form says nothing (a bare hash, a bare UUID), beside a name that says nothing either.
FLOORS = {**dict.fromkeys(CONTEXTS, 0.97), "alone": 0.95, "service": 0.85}


@cache
def results() -> list[tuple[Sample, bool]]:
    return [(sample, sample.is_caught()) for sample in samples()]


def test_the_sample_is_broad() -> None:
    assert len({sample.rule for sample, _ in results()}) > 400
    assert len(results()) > 5000


def test_nearly_all_secrets_of_the_public_sample_are_caught() -> None:
    caught = sum(is_caught for _, is_caught in results())

    assert caught / len(results()) >= 0.98


@pytest.mark.parametrize("context", FLOORS)
def test_secrets_are_caught_however_they_are_written(context: str) -> None:
    caught = [is_caught for sample, is_caught in results() if sample.context == context]

    assert sum(caught) / len(caught) >= FLOORS[context]


def test_no_form_is_missed_as_a_rule() -> None:
    missed = Counter(sample.rule for sample, is_caught in results() if not is_caught)

    assert [rule for rule, times in missed.items() if times > 4] == []
