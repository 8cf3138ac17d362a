"""The form in which benchmarks are printed."""

import importlib

import pytest

from bench.__main__ import NAMES
from bench.table import Row, render


def test_a_measure_stands_beside_its_floor() -> None:
    rows = [
        Row(measure="import mcp", value=1_143.4, unit="ms", floor="SDK alone", floor_value=866.2),
        Row(measure="files", value=0.51234, unit="files/s"),
    ]

    assert render(rows).splitlines() == [
        "measure             value  floor              ratio",
        "import mcp       1,143 ms  SDK alone 866 ms  1.32 x",
        "files       0.512 files/s",
    ]


def test_the_ratio_is_in_the_json_too() -> None:
    row = Row(measure="m", value=3, unit="ms", floor="f", floor_value=2)

    assert row.as_json()["ratio"] == 1.5


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_run(name: str) -> None:
    assert callable(importlib.import_module(f"bench.{name}").measure)
