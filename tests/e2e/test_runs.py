"""Two runs on a stack of its own, which loses its workers and its engine while they work."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import pytest

from tests.e2e.conftest import NewStack
from tests.long_run import RUNS, Caller, Engine, Killer, LongRun, caller

# It drives an emulator beside others, alike whatever Python runs it.
pytestmark = pytest.mark.one_python

SEEDS = (8, 21)
LONG = LongRun(steps=40, changes=(9, 19, 29))


def seen_through(ada: Caller, killer: Killer) -> dict[str, Any]:
    return ada.see_through(ada.start("k1"), 400, killer.look, every=0.3)


def test_runs_end_alike_though_their_workers_and_their_engine_are_killed(
    new_stack: NewStack,
) -> None:
    stack = new_stack().start()
    engine = Engine(stack)
    killers = [Killer(stack, LONG, seed, workers=2, engine=engine) for seed in SEEDS]
    with ExitStack() as tenants, ThreadPoolExecutor(len(SEEDS)) as people:
        callers = [tenants.enter_context(caller(stack, f"seed-{n}", LONG)) for n in SEEDS]
        runs = list(people.map(seen_through, callers, killers))
        for ada, run, killer in zip(callers, runs, killers, strict=True):
            events = ada.patiently("GET", f"{RUNS}/{run['id']}/events?limit=1000")["events"]

            assert (run["status"], run["reason"], run["steps"]) == ("completed", "answered", 40)
            assert ada.log() == LONG.log
            told = [(call["tool_name"], call["status"]) for call in run["calls"]]
            assert told == [(name, "success") for name in LONG.calls]
            assert run["result"] == "Done."
            assert all(after["id"] == before["id"] + 1 for before, after in pairwise(events))
            assert events[-1]["event"] == "run_end"
            assert killer.workers > 0
    assert engine.kills == 1
