"""The clock that fires the timers which the emulator keeps."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from archivolt_local.events.timers import Timers
from tests.fakes.clock import START, FrozenClock
from tests.unit.local.pools import ScriptedPool, answering

AGENT = "arn:aws:lambda:us-east-1:000000000000:function:archivolt-agent"


class Kept:
    """Timers as the emulator keeps them."""

    def __init__(self) -> None:
        self.timers: dict[str, dict[str, Any]] = {}
        self.reads = 0

    def put(self, name: str, expression: str, *, at: datetime = START, zone: str = "UTC") -> None:
        self.timers[name] = {
            "Name": name,
            "GroupName": "runs",
            "State": "ENABLED",
            "ScheduleExpression": expression,
            "ScheduleExpressionTimezone": zone,
            "CreationDate": at,
            "LastModificationDate": at,
            "Target": {"Arn": AGENT, "Input": '{"due": "<aws.scheduler.scheduled-time>"}'},
        }

    def list_schedules(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  the SDK's
        assert arguments["GroupName"] == "runs"
        found = [each for each in self.timers.values() if each["State"] == arguments["State"]]
        return {"Schedules": found}

    def get_schedule(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  the SDK's
        self.reads += 1
        return self.timers[arguments["Name"]]

    def delete_schedule(self, **arguments: Any) -> object:  # noqa: ANN401  the SDK's
        if self.timers.pop(arguments["Name"], None) is None:
            error: Any = {"Error": {"Code": "ResourceNotFoundException"}}
            raise ClientError(error, "DeleteSchedule")
        return {}


def clocked(kept: Kept, clock: FrozenClock) -> tuple[Timers, ScriptedPool]:
    pool = ScriptedPool(lambda _: answering({}))
    pools = {"archivolt-agent": pool}
    return Timers(["runs"], kept, pools.__getitem__, clock), pool


def moments(timers: Timers) -> list[str]:
    return [f"{timer.name} {due:%d %H:%M}" for timer, due in timers.due()]


def test_a_timer_fires_at_each_of_its_moments_once() -> None:
    kept, clock = Kept(), FrozenClock()
    kept.put("often", "rate(15 minutes)")
    kept.put("daily", "cron(0 11 * * ? *)", zone="Europe/Paris")
    timers, _ = clocked(kept, clock)

    assert moments(timers) == []
    clock.advance(minutes=15)
    assert moments(timers) == ["often 01 08:45"]
    assert moments(timers) == []
    clock.advance(minutes=15)
    assert moments(timers) == ["often 01 09:00", "daily 01 09:00"]
    assert kept.reads == 2


def test_the_function_is_told_the_moment_that_was_due() -> None:
    kept, clock = Kept(), FrozenClock()
    kept.put("often", "rate(15 minutes)")
    timers, pool = clocked(kept, clock)
    clock.advance(minutes=16)

    for timer, due in timers.due():
        asyncio.run(timers.fire(timer, due))

    assert pool.events == [{"due": "2026-09-01T08:45:00Z"}]
    assert "often" in kept.timers


def test_what_fires_once_is_removed_after_it_did() -> None:
    kept, clock = Kept(), FrozenClock()
    kept.put("once", "at(2026-09-01T11:00:00)", zone="Europe/Paris")
    timers, pool = clocked(kept, clock)
    clock.advance(minutes=31)

    for timer, due in timers.due():
        asyncio.run(timers.fire(timer, due))

    assert (len(pool.events), kept.timers) == (1, {})
    assert moments(timers) == []


def test_of_what_was_due_while_the_stack_was_off_a_moment_alone_is_made_up_for() -> None:
    kept = Kept()
    kept.put("once", "at(2026-09-01T09:00:00)")
    kept.put("often", "rate(15 minutes)")
    clock = FrozenClock(START + timedelta(days=2))
    timers, _ = clocked(kept, clock)

    assert moments(timers) == ["once 01 09:00"]
    clock.advance(minutes=15)
    assert moments(timers) == ["often 03 08:45"]


def test_after_a_pause_of_the_machine_what_was_missed_fires_once() -> None:
    kept, clock = Kept(), FrozenClock()
    kept.put("often", "rate(15 minutes)")
    timers, _ = clocked(kept, clock)
    clock.advance(hours=5)

    assert moments(timers) == ["often 01 08:45"]
    assert moments(timers) == []


def test_a_changed_timer_is_read_again_and_a_paused_one_is_silent() -> None:
    kept, clock = Kept(), FrozenClock()
    kept.put("one", "rate(15 minutes)")
    timers, _ = clocked(kept, clock)
    moments(timers)
    clock.advance(minutes=10)
    kept.put("one", "rate(1 hour)", at=clock.now())

    clock.advance(minutes=20)
    assert moments(timers) == []
    clock.advance(minutes=40)
    assert moments(timers) == ["one 01 09:40"]
    clock.advance(hours=1)
    kept.timers["one"]["State"] = "DISABLED"
    assert moments(timers) == []


def test_a_timer_that_nobody_understands_keeps_no_other_from_firing() -> None:
    kept, clock = Kept(), FrozenClock()
    kept.put("odd", "cron(0 8 15W * ? *)")
    kept.put("often", "rate(15 minutes)")
    timers, _ = clocked(kept, clock)
    clock.advance(minutes=15)

    assert moments(timers) == ["often 01 08:45"]


def test_a_timer_that_is_gone_when_it_is_read_keeps_no_other_from_firing() -> None:
    class Vanishing(Kept):
        def get_schedule(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  the SDK's
            if arguments["Name"] == "gone":
                error: Any = {"Error": {"Code": "ResourceNotFoundException"}}
                raise ClientError(error, "GetSchedule")
            return super().get_schedule(**arguments)

    kept, clock = Vanishing(), FrozenClock()
    kept.put("often", "rate(15 minutes)")
    kept.put("gone", "rate(15 minutes)")
    timers, _ = clocked(kept, clock)
    clock.advance(minutes=15)

    assert moments(timers) == ["often 01 08:45"]


def test_an_emulator_that_is_down_is_looked_at_again() -> None:
    class Down(Kept):
        def list_schedules(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
            error: Any = {"Error": {"Code": "InternalFailure"}}
            raise ClientError(error, "ListSchedules")

    timers, _ = clocked(Down(), FrozenClock())

    assert timers.due() == []
