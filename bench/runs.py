"""Agent runs on a running stack: that they survive, that they are fair, and what the chat feels.

Ten runs of 40 steps with three changes each, while workers and the engine are killed; then 20 runs
at once, each of a tenant of its own, and the chat beside them. What must hold is checked: a seed
whose result differs, or an effect that happened twice or never, ends the measure with its number.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import httpx2

from bench.table import Row
from tests.e2e.stack import Stack, running
from tests.fakes.openai_server import openai_server
from tests.long_run import Caller, Engine, Killer, LongRun, caller

_SEEDS: Final = int(os.environ.get("RUN_SEEDS", "10"))  # noqa: TID251  of the measure alone
_AT_ONCE: Final = int(os.environ.get("RUNS_AT_ONCE", "20"))  # noqa: TID251  of the measure alone
_LONG: Final = LongRun(steps=40, changes=(9, 19, 29))
_MANY: Final = LongRun(steps=8, changes=(), seconds=0.05)
_WORKERS: Final = 4
_SECONDS: Final = 900
_TURNS: Final = 15
# Runs go on by themselves. To look at one each second costs the chat's own process more than the
# run does, and is what the chat feels then.
_BETWEEN_LOOKS: Final = float(os.environ.get("RUN_LOOKS_APART", "5"))  # noqa: TID251  of the measure
# A person reads what was answered, however fast they are.
_BETWEEN: Final = 0.5


def measure() -> list[Row]:
    """Return the seconds of a run that is killed again and again, and of many at once."""
    with tempfile.TemporaryDirectory() as root, running(Stack(Path(root))) as stack:
        alone = _run(stack, "alone", _LONG)
        killed = [_survives(stack, seed) for seed in range(_SEEDS)]
        return [
            Row(
                measure="run of 40 steps, 3 changes, 4 workers and the engine killed",
                value=statistics.median(killed) if killed else 0,
                unit="s",
                floor="nobody killed",
                floor_value=alone,
            ),
            *_many(stack),
        ]


def _run(stack: Stack, tenant: str, script: LongRun, killer: Killer | None = None) -> float:
    with caller(stack, tenant, script) as ada:
        return _seen_through(ada, killer)


def _seen_through(ada: Caller, killer: Killer | None = None, *, every: float = 0.1) -> float:
    """Take a run to its end and return its seconds; it is looked at so often.

    Raises:
        ValueError: It ended otherwise than it should, or an effect happened twice or never.

    """
    started = time.monotonic()
    look = killer.look if killer else None
    run = ada.see_through(ada.start(ada.tenant), _SECONDS, look, every=every)
    seconds = time.monotonic() - started
    ended = (run["status"], run["reason"], run["steps"], ada.log())
    if ended != ("completed", "answered", ada.script.steps, ada.script.log):
        raise ValueError(f"{ada.tenant}: {ended}")
    return seconds


def _survives(stack: Stack, seed: int) -> float:
    killer = Killer(stack, _LONG, seed, workers=_WORKERS, engine=Engine(stack))
    return _run(stack, f"seed-{seed}", _LONG, killer)


def _many(stack: Stack) -> list[Row]:
    with ExitStack() as callers, ThreadPoolExecutor(_AT_ONCE) as pool:
        talks = callers.enter_context(caller(stack, "talks", LongRun(steps=1, changes=())))
        provider = callers.enter_context(openai_server(thinks=_MANY.think)).base_url
        many = [
            callers.enter_context(caller(stack, f"many-{number}", _MANY, provider=provider))
            for number in range(_AT_ONCE)
        ]
        idle = _first_words(talks, lambda turn: turn < _TURNS)
        runs = [pool.submit(_seen_through, each, every=_BETWEEN_LOOKS) for each in many]
        busy = _first_words(talks, lambda _: not all(run.done() for run in runs))
        seconds = sorted(run.result() for run in runs)
    return [
        Row(
            measure=f"{_AT_ONCE} runs at once: the last to end",
            value=seconds[-1],
            unit="s",
            floor="the first to end",
            floor_value=seconds[0],
        ),
        Row(
            measure=f"first word of the chat beside {_AT_ONCE} runs",
            value=statistics.median(busy) * 1000,
            unit="ms",
            floor="idle",
            floor_value=statistics.median(idle) * 1000,
        ),
    ]


def _first_words(talks: Caller, go_on: Callable[[int], bool]) -> list[float]:
    """Return the seconds to the first word of turn after turn."""
    times: list[float] = []
    while go_on(len(times)) or not times:
        times.append(_first_word(talks.client, f"Work in {talks.vault}."))
        time.sleep(_BETWEEN)
    return times


def _first_word(http: httpx2.Client, message: str) -> float:
    started = time.monotonic()
    with http.stream("POST", "/api/v1/chat/messages", json={"message": message}) as answer:
        heard = [time.monotonic() for each in answer.iter_lines() if each.endswith("content_delta")]
    return heard[0] - started
