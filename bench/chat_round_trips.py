"""How often the chat waits for its stores before a model is asked, through the whole application.

Each call to its tables takes a while, so that those made side by side overlap: what is counted are
calls of which each begins when the one before is over.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from moto import mock_aws

from bench.table import Row
from tests.contract.conftest import client_of, make_table
from tests.contract.test_chat_round_trips import (
    MOST_ROUND_TRIPS,
    TABLES,
    CountedTables,
    Deployment,
)

_WHILE_SECONDS: Final = 0.2
_ROUNDS: Final = 3


class SlowTables(CountedTables):
    """The client of tables, each call of which takes a while, with the times of all of them."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401  every operation of the client
        super().__init__(client)
        self.times: list[tuple[float, float]] = []
        self.waits: list[int] = []

    def expect(self, *waves: int) -> None:
        """Begin to count; nothing is expected."""
        del waves
        super().expect()
        self.times = []

    @property
    def round_trips(self) -> int:
        """How many there were when the model is asked; it is noted."""
        self.waits.append(_one_after_another(self.times))
        return self.waits[-1]

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        made = super().__getattr__(operation)

        def call(**arguments: object) -> Any:  # noqa: ANN401  as botocore
            began = time.perf_counter()
            time.sleep(_WHILE_SECONDS)
            try:
                return made(**arguments)
            finally:
                self.times.append((began, time.perf_counter()))

        return call


def round_trip_rows() -> list[Row]:
    """Return how many round trips precede the call of a model in a turn that goes on."""
    with mock_aws():
        client = client_of("dynamodb")
        for logical_id in TABLES:
            make_table(client, logical_id)
        tables = SlowTables(client)
        # The first turn notes who its person is, on their first day.
        Deployment(tables).turns(*[()] * (1 + _ROUNDS))
    return [
        Row(
            measure="chat waits for its stores before its model is asked",
            value=min(tables.waits[1:]),
            unit="times",
            floor="allowed",
            floor_value=MOST_ROUND_TRIPS,
        )
    ]


def _one_after_another(times: Sequence[tuple[float, float]]) -> int:
    """Return how many calls there are at most of which none overlaps another."""
    count, over = 0, 0.0
    for began, ended in sorted(times, key=lambda each: each[1]):
        if began >= over:
            count, over = count + 1, ended
    return count
