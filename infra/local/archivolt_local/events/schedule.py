"""Calls a scheduled function at each start of the stack, then as often as its rule says.

Reference: Amazon EventBridge user guide, "Scheduled Event" (the event's form).
"""

import asyncio
import json
import re
import uuid
from typing import Any

from archivolt.ports.clock import Clock
from archivolt_local.emulator import REGION
from archivolt_local.provisioning.deployment import Schedule
from archivolt_local.provisioning.intrinsics import ACCOUNT
from archivolt_local.runtime.pool import FunctionPool
from archivolt_local.runtime.worker import Outcome

_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_ATTEMPTS = 3
_PAUSE_AFTER_FAILURE = 5.0
_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}


def interval_of(expression: str) -> int:
    """Return the seconds between two calls.

    Raises:
        ValueError: It is not a rate: nothing else is used here.

    """
    match = _RATE.fullmatch(expression)
    if match is None:
        raise ValueError(f"not a rate: {expression}")
    return int(match.group(1)) * _SECONDS[match.group(2)]


def schedule_event(schedule: Schedule, clock: Clock) -> dict[str, Any]:
    """Return the event EventBridge sends."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT,
        "time": clock.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:events:{REGION}:{ACCOUNT}:rule/{schedule.rule}"],
        "detail": {},
    }


async def call_now(schedule: Schedule, pool: FunctionPool, clock: Clock) -> Outcome:
    """Call the function once."""
    return await pool.invoke(json.dumps(schedule_event(schedule, clock)).encode())


async def call_regularly(schedule: Schedule, pool: FunctionPool, clock: Clock) -> None:
    """Call the function now and for ever after.

    A call that fails is made twice more (AWS Lambda developer guide, "How Lambda handles errors and
    retries with asynchronous invocation"), sooner than on AWS: people wait for this machine.
    """
    while True:
        for _ in range(_ATTEMPTS):
            outcome = await call_now(schedule, pool, clock)
            if not outcome.failed:
                break
            await asyncio.sleep(_PAUSE_AFTER_FAILURE)
        await asyncio.sleep(interval_of(schedule.expression))
