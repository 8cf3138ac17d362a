"""A run on a stack of its own, which loses its workers and its engine while it works."""

from itertools import pairwise

import pytest

from tests.e2e.conftest import NewStack
from tests.long_run import RUNS, Killer, LongRun, caller

# It drives an emulator beside others, alike whatever Python runs it.
pytestmark = pytest.mark.one_python

SHORT = LongRun(steps=6, changes=(1, 2, 4), seconds=0.2)


def test_a_run_ends_alike_though_its_workers_and_its_engine_are_killed(
    new_stack: NewStack,
) -> None:
    stack = new_stack().start()
    with caller(stack, "durable", SHORT) as ada:
        killer = Killer(stack, SHORT, 8, workers=1, engines=1)
        run = ada.see_through(ada.start("k1"), 300, killer.look)
        events = ada.patiently("GET", f"{RUNS}/{run['id']}/events?limit=1000")["events"]
        log = ada.log()

    assert (run["status"], run["reason"], run["steps"]) == ("completed", "answered", 6)
    assert log == SHORT.log
    assert [call["status"] for call in run["calls"]] == ["success"] * 5
    assert run["result"] == "Done."
    assert all(after["id"] == before["id"] + 1 for before, after in pairwise(events))
    assert events[-1]["event"] == "run_end"
    assert (killer.workers > 0, killer.engines) == (True, 1)
