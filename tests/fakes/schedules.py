"""Schedules in a dictionary, timers that only note what they were told, and a client of AWS's."""

from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError

from archivolt.domain.errors import ConflictError, NotFoundError, UnavailableError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.schedule import Schedule


class InMemorySchedules:
    """A `ScheduleStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[TenantId, UserId, str], Schedule] = {}

    def create(self, schedule: Schedule) -> Schedule:
        if _key(schedule) in self._kept:
            raise ConflictError("conflict")
        self._kept[_key(schedule)] = replace(schedule, revision=1)
        return self._kept[_key(schedule)]

    def get(self, tenant: TenantId, user: UserId, schedule_id: str) -> Schedule:
        found = self._kept.get((tenant, user, schedule_id))
        if found is None:
            raise NotFoundError("schedule_not_found")
        return found

    def of_user(self, tenant: TenantId, user: UserId) -> list[Schedule]:
        mine = {key[2]: each for key, each in self._kept.items() if key[:2] == (tenant, user)}
        return [mine[name] for name in sorted(mine)]

    def save(self, schedule: Schedule) -> Schedule:
        there = self._kept.get(_key(schedule))
        if there is None or there.revision != schedule.revision:
            raise ConflictError("conflict")
        self._kept[_key(schedule)] = replace(schedule, revision=schedule.revision + 1)
        return self._kept[_key(schedule)]

    def delete(self, schedule: Schedule) -> None:
        self._kept.pop(_key(schedule), None)


class NotingTimer:
    """A `ScheduleTimer` that fires when the test says so; `down` makes it fail."""

    def __init__(self) -> None:
        self.set: dict[str, Schedule] = {}
        self.down = False

    def put(self, schedule: Schedule) -> None:
        if self.down:
            raise UnavailableError("unavailable")
        self.set[schedule.id] = schedule

    def remove(self, tenant: TenantId, user: UserId, schedule_id: str) -> None:
        if self.down:
            raise UnavailableError("unavailable")
        self.set.pop(schedule_id, None)


class TimersInMemory:
    """The calls of EventBridge Scheduler's client that are used, over a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    def create_schedule(self, **arguments: Any) -> object:  # noqa: ANN401  the SDK's
        self.kept[arguments["Name"]] = arguments
        return {}

    def update_schedule(self, **arguments: Any) -> object:  # noqa: ANN401  the SDK's
        self._require(arguments["Name"])
        self.kept[arguments["Name"]] = arguments
        return {}

    def delete_schedule(self, **arguments: Any) -> object:  # noqa: ANN401  the SDK's
        self._require(arguments["Name"])
        del self.kept[arguments["Name"]]
        return {}

    def list_schedules(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  the SDK's
        start = arguments.get("NextToken", "")
        names = [
            name
            for name in sorted(self.kept)
            if name.startswith(arguments["NamePrefix"]) and name > start
        ]
        page: dict[str, Any] = {"Schedules": [{"Name": name} for name in names[:1]]}
        return page | ({"NextToken": names[0]} if names[1:] else {})

    def _require(self, name: str) -> None:
        if name not in self.kept:
            error: Any = {"Error": {"Code": "ResourceNotFoundException"}}
            raise ClientError(error, "Operation")


def _key(schedule: Schedule) -> tuple[TenantId, UserId, str]:
    return schedule.tenant, schedule.owner, schedule.id
