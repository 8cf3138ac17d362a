"""The Runtime API host with Amazon's own runtime client as the other side."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from archivolt.adapters.system.clock import SystemClock
from archivolt_local.children import Command
from archivolt_local.environment import for_children
from archivolt_local.provisioning.deployment import DeployedFunction
from archivolt_local.runtime.pool import FunctionPool
from archivolt_local.runtime.worker import MAX_PAYLOAD, runtime_client

pytestmark = pytest.mark.anyio

HANDLER = """
    import os, time

    calls = 0

    def handler(event, context):
        global calls
        calls += 1
        match event.get("do"):
            case "fail":
                raise LookupError("the reason")
            case "exit":
                os._exit(7)
            case "sleep":
                time.sleep(30)
            case "much":
                return "a" * event["size"]
        return {
            "calls": calls, "pid": os.getpid(), "echo": event, "tmp": os.environ["TMPDIR"],
            "left": context.get_remaining_time_in_millis(), "arn": context.invoked_function_arn,
        }
"""

MakePool = Callable[..., FunctionPool]


@pytest.fixture
async def make_pool(tmp_path: Path) -> AsyncIterator[MakePool]:
    pools: list[FunctionPool] = []

    def make(source: str = HANDLER, *, timeout: int = 20, limit: int = 1) -> FunctionPool:
        folder = tmp_path / "function"
        folder.mkdir()
        (folder / "app.py").write_text(dedent(source))
        function = DeployedFunction(
            name="archivolt-probe",
            folder=folder,
            handler="app.handler",
            role="arn:aws:iam::0:role/r",
            timeout=timeout,
            memory=128,
            environment={},
        )
        command = Command(
            name="probe",
            arguments=runtime_client(function.handler),
            environment={
                **for_children(),
                "_HANDLER": function.handler,
                "LAMBDA_TASK_ROOT": str(folder),
                "PYTHONPATH": str(folder),
            },
            log=tmp_path / "probe.log",
            folder=folder,
        )
        pool = FunctionPool(
            function, command, SystemClock(), limit=limit, scratch=tmp_path / "scratch"
        )
        pools.append(pool)
        return pool

    yield make
    for pool in pools:
        await pool.stop()


async def call(pool: FunctionPool, **event: Any) -> Any:  # noqa: ANN401
    outcome = await pool.invoke(json.dumps(event).encode())
    return json.loads(outcome.payload)


async def test_a_worker_stays_warm_between_events(make_pool: MakePool) -> None:
    pool = make_pool()
    first, second = await call(pool, text="é"), await call(pool)
    assert first["echo"] == {"text": "é"}
    assert (first["calls"], second["calls"]) == (1, 2)
    assert first["pid"] == second["pid"]


async def test_the_handler_knows_its_arn_and_its_time(make_pool: MakePool) -> None:
    answer = await call(make_pool(timeout=20))
    assert answer["arn"] == "arn:aws:lambda:us-east-1:000000000000:function:archivolt-probe"
    assert 10_000 < answer["left"] <= 20_000


async def test_events_side_by_side_run_in_workers_with_their_own_scratch(
    make_pool: MakePool,
) -> None:
    pool = make_pool(limit=2)
    answers = await asyncio.gather(call(pool), call(pool))
    assert len({answer["pid"] for answer in answers}) == 2
    assert len({answer["tmp"] for answer in answers}) == 2


async def test_no_more_workers_run_than_were_allowed(make_pool: MakePool) -> None:
    pool = make_pool(limit=1)
    answers = await asyncio.gather(*(call(pool) for _ in range(5)))
    assert {answer["pid"] for answer in answers} == {answers[0]["pid"]}
    assert sorted(answer["calls"] for answer in answers) == [1, 2, 3, 4, 5]


async def test_an_exception_keeps_its_type_and_the_worker_goes_on(make_pool: MakePool) -> None:
    pool = make_pool()
    before = await call(pool)
    outcome = await pool.invoke(b'{"do": "fail"}')
    assert outcome.failed
    assert json.loads(outcome.payload)["errorType"] == "LookupError"
    assert (await call(pool))["pid"] == before["pid"]


async def test_a_worker_that_dies_is_a_clean_error_and_is_replaced(make_pool: MakePool) -> None:
    pool = make_pool()
    outcome = await pool.invoke(b'{"do": "exit"}')
    assert outcome.failed
    assert json.loads(outcome.payload)["errorType"] == "Runtime.ExitError"
    assert (await call(pool))["calls"] == 1


async def test_a_handler_over_its_time_is_ended(make_pool: MakePool) -> None:
    pool = make_pool(timeout=1)
    outcome = await pool.invoke(b'{"do": "sleep"}')
    assert outcome.failed
    assert json.loads(outcome.payload)["errorType"] == "Sandbox.Timedout"
    assert (await call(pool))["calls"] == 1


async def test_a_handler_that_cannot_be_imported_says_why(make_pool: MakePool) -> None:
    error = await make_pool("import nothing_of_that_name\n").warm_up()
    assert error is not None
    assert "nothing_of_that_name" in error.payload.decode()


async def test_payloads_over_lambdas_limit_are_refused_both_ways(make_pool: MakePool) -> None:
    pool = make_pool()
    too_much = json.dumps({"text": "a" * MAX_PAYLOAD}).encode()
    assert (await pool.invoke(too_much)).failed
    outcome = await pool.invoke(json.dumps({"do": "much", "size": MAX_PAYLOAD + 1}).encode())
    assert json.loads(outcome.payload)["errorType"] == "Function.ResponseSizeTooLarge"
    assert len(await call(pool, do="much", size=5_000_000)) == 5_000_000
