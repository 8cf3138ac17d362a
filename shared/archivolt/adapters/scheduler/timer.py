"""Fires schedules by Amazon EventBridge Scheduler: each has a timer that calls the agent function.

A timer carries ids, and the moment that it was due: what is to be done is in our records.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, Protocol

from botocore.exceptions import ClientError

from archivolt.adapters.aws.errors import code_of, translated
from archivolt.adapters.scheduler.names import timer_of
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.schedule import Schedule
from archivolt.domain.schedule_limits import FIRING_RETRIES, FIRING_SECONDS
from archivolt.domain.schedule_times import is_once, is_rate, next_firing

_ABSENT: Final = "ResourceNotFoundException"
# What the service puts in its place (its user guide, "Adding context attributes").
_DUE: Final = "<aws.scheduler.scheduled-time>"


class SchedulerClient(Protocol):
    """The part of the SDK's client that is used here."""

    def create_schedule(self, **arguments: Any) -> object:  # noqa: ANN401  the SDK's
        """Make a timer."""
        ...

    def update_schedule(self, **arguments: Any) -> object:  # noqa: ANN401  the SDK's
        """Change a timer, as a whole."""
        ...

    def delete_schedule(self, **arguments: Any) -> object:  # noqa: ANN401  the SDK's
        """Remove a timer."""
        ...

    def list_schedules(self, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  the SDK's
        """List timers by names."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerPlaces:
    """Where timers are, what they call and as whom, and where a call goes that fails for good."""

    group: str
    function: str = ""
    role: str = ""
    dead_letters: str = ""


class EventBridgeTimer:
    """A `ScheduleTimer` of one group of EventBridge Scheduler."""

    def __init__(self, client: SchedulerClient, places: TimerPlaces) -> None:
        self._client = client
        self._places = places

    def put(self, schedule: Schedule) -> None:
        """Have a schedule fired as it says, or not, where it is not enabled."""
        known = {
            "ValidationException": InvalidRequestError("schedule_expression"),
            "ServiceQuotaExceededException": UnavailableError("unavailable"),
            "ConflictException": UnavailableError("unavailable"),
        }
        arguments = self._arguments(schedule)
        with translated(known):
            try:
                self._client.update_schedule(**arguments)
            except ClientError as error:
                if code_of(error) != _ABSENT:
                    raise
                self._client.create_schedule(**arguments)

    def remove(self, tenant: TenantId, user: UserId, schedule_id: str) -> None:
        """Have one fired no more."""
        remove_timer(self._client, self._places.group, timer_of(tenant, user, schedule_id))

    def _arguments(self, schedule: Schedule) -> dict[str, Any]:
        given = {
            "do": "fire",
            "tenant": schedule.tenant,
            "user": schedule.owner,
            "schedule": schedule.id,
            "due": _DUE,
        }
        return {
            **_start(schedule),
            "Name": timer_of(schedule.tenant, schedule.owner, schedule.id),
            "GroupName": self._places.group,
            "ScheduleExpression": schedule.timetable.expression,
            "ScheduleExpressionTimezone": schedule.timetable.zone,
            "State": "ENABLED" if schedule.enabled else "DISABLED",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE" if is_once(schedule.timetable) else "NONE",
            "Target": {
                "Arn": self._places.function,
                "RoleArn": self._places.role,
                "Input": json.dumps(given),
                "RetryPolicy": {
                    "MaximumRetryAttempts": FIRING_RETRIES,
                    "MaximumEventAgeInSeconds": FIRING_SECONDS,
                },
                "DeadLetterConfig": {"Arn": self._places.dead_letters},
            },
        }


def _start(schedule: Schedule) -> dict[str, Any]:
    """Return when a rate begins: without that it would fire at once."""
    if not is_rate(schedule.timetable):
        return {}
    after, since = schedule.changed_at, schedule.created_at
    return {"StartDate": next_firing(schedule.timetable, after=after, since=since)}


def remove_timer(client: SchedulerClient, group: str, name: str) -> None:
    """Remove a timer; one that is not there is no error.

    Raises:
        UnavailableError: It may still be there.

    """
    try:
        with translated({"ConflictException": UnavailableError("unavailable")}):
            client.delete_schedule(GroupName=group, Name=name)
    except ClientError as error:
        if code_of(error) != _ABSENT:
            raise
