"""Fires the timers of EventBridge Scheduler: the emulator keeps them, and this looks at its clock.

The emulator would fire them itself, every ten seconds, by its own functions, and knows neither time
zones nor the moment that a timer was due. What recurs and was due while the stack was off is not
made up for; a moment that passed then is.
Reference: Amazon EventBridge Scheduler user guide, "Schedule types", "Adding context attributes".
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.schedule import Timetable
from archivolt.domain.schedule_times import is_once, next_firing
from archivolt.ports.clock import Clock
from archivolt_local.runtime.worker import Outcome

_SECONDS_BETWEEN: Final = 1.0
_ATTEMPTS: Final = 3
_PAUSE_AFTER_FAILURE: Final = 5.0
_DUE: Final = "<aws.scheduler.scheduled-time>"
# All that a machine has: the emulator gives no second page.
_MOST: Final = 1_000


class TimersClient(Protocol):
    """The part of the SDK's client that is used here."""

    def list_schedules(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  the SDK's
        """List timers by names."""
        ...

    def get_schedule(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  the SDK's
        """Return a timer."""
        ...

    def delete_schedule(self, **arguments: Any) -> object:  # noqa: ANN401  the SDK's
        """Remove a timer."""
        ...


class Invoked(Protocol):
    """What runs a function."""

    async def invoke(self, payload: bytes) -> Outcome:
        """Call it once."""
        ...


@dataclass(frozen=True, kw_only=True)
class Timer:
    """A timer as it was when it was last changed; `since` is when it was made."""

    name: str
    group: str
    timetable: Timetable
    since: datetime
    changed: datetime
    function: str
    given: str

    def event(self, due: datetime) -> bytes:
        """Return what the function is given."""
        moment = due.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return self.given.replace(_DUE, moment).encode()


class Timers:
    """The timers of some groups.

    Args:
        groups: Their names.
        client: The scheduler.
        pool: Gives the workers of a function.
        clock: The time.

    """

    def __init__(
        self,
        groups: Sequence[str],
        client: TimersClient,
        pool: Callable[[str], Invoked],
        clock: Clock,
    ) -> None:
        self._groups = groups
        self._client = client
        self._pool = pool
        self._clock = clock
        self._known: dict[tuple[str, str], Timer] = {}
        self._looked: dict[str, datetime] = {}
        self._started = clock.now()

    async def run(self) -> None:
        """Fire what is due, for ever."""
        async with asyncio.TaskGroup() as firings:
            while True:
                for timer, due in await asyncio.to_thread(self.due):
                    firings.create_task(self.fire(timer, due))
                await asyncio.sleep(_SECONDS_BETWEEN)

    def due(self) -> list[tuple[Timer, datetime]]:
        """Return each timer that is due, and since when; each moment once."""
        now = self._clock.now()
        try:
            # All first: a moment that was given once is not given again.
            timers = list(self._enabled())
        except (BotoCoreError, ClientError):
            return []
        return [(timer, due) for timer in timers if (due := self._due(timer, now)) is not None]

    async def fire(self, timer: Timer, due: datetime) -> None:
        """Call the function; one that fires once is removed then."""
        for _ in range(_ATTEMPTS):
            outcome = await self._pool(timer.function).invoke(timer.event(due))
            if not outcome.failed:
                break
            await asyncio.sleep(_PAUSE_AFTER_FAILURE)
        if is_once(timer.timetable):
            await asyncio.to_thread(self._remove, timer)

    def _due(self, timer: Timer, now: datetime) -> datetime | None:
        # What was due while the stack was off counts for a moment alone.
        begin = timer.changed if is_once(timer.timetable) else max(self._started, timer.changed)
        after = max(self._looked.get(timer.name, begin), begin)
        try:
            due = next_firing(timer.timetable, after=after, since=timer.since)
        except InvalidRequestError:
            return None
        if due is None or due > now:
            return None
        self._looked[timer.name] = now
        return due

    def _enabled(self) -> Iterator[Timer]:
        for group in self._groups:
            page = self._client.list_schedules(GroupName=group, State="ENABLED", MaxResults=_MOST)
            for each in page["Schedules"]:
                # One that is gone by now, or is not told at this moment, keeps no other waiting.
                with suppress(ClientError):
                    yield self._timer(group, each["Name"], str(each["LastModificationDate"]))

    def _timer(self, group: str, name: str, version: str) -> Timer:
        known = self._known.get((name, version))
        if known is None:
            known = self._read(self._client.get_schedule(GroupName=group, Name=name))
            self._known[name, version] = known
        return known

    def _read(self, found: dict[str, Any]) -> Timer:
        return Timer(
            name=found["Name"],
            group=found["GroupName"],
            timetable=Timetable(
                expression=found["ScheduleExpression"], zone=found["ScheduleExpressionTimezone"]
            ),
            since=found["CreationDate"],
            changed=found["LastModificationDate"],
            function=found["Target"]["Arn"].rpartition(":")[2],
            given=found["Target"]["Input"],
        )

    def _remove(self, timer: Timer) -> None:
        try:
            self._client.delete_schedule(GroupName=timer.group, Name=timer.name)
        except (BotoCoreError, ClientError):
            return  # it was removed, or fires again, which starts nothing more
