"""What fires schedules, by what EventBridge Scheduler is asked and answers."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from archivolt.adapters.scheduler.names import timer_of, timers_of
from archivolt.adapters.scheduler.timer import EventBridgeTimer, TimerPlaces
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.identity import UserId
from archivolt.domain.schedule import Timetable
from tests.builders import ACME, ALICE, GLOBEX, a_schedule
from tests.fakes.schedules import TimersInMemory

PLACES = TimerPlaces(
    group="archivolt-runs",
    function="arn:aws:lambda:eu-west-1:1:function:archivolt-agent",
    role="arn:aws:iam::1:role/scheduler",
    dead_letters="arn:aws:sqs:eu-west-1:1:archivolt-schedules-dead-letters",
)


class Failing(TimersInMemory):
    """A client whose service answers with an error."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def _fails(self, **_: Any) -> Any:  # noqa: ANN401  the SDK's
        raise self._error

    update_schedule = delete_schedule = _fails


def refusal(code: str, status: int = 400) -> ClientError:
    answer: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Operation")


def test_a_timer_carries_ids_and_the_moment_and_nothing_of_what_is_to_be_done() -> None:
    timers = TimersInMemory()

    EventBridgeTimer(timers, PLACES).put(a_schedule("a secret goal"))

    [timer] = timers.kept.values()
    assert json.loads(timer["Target"]["Input"]) == {
        "do": "fire",
        "tenant": "acme",
        "user": "alice",
        "schedule": "s1",
        "due": "<aws.scheduler.scheduled-time>",
    }
    assert "secret" not in json.dumps(timer, default=str)
    assert (timer["GroupName"], timer["State"]) == ("archivolt-runs", "ENABLED")
    assert timer["Target"]["DeadLetterConfig"] == {"Arn": PLACES.dead_letters}
    assert (timer["ScheduleExpression"], timer["ActionAfterCompletion"]) == ("rate(1 day)", "NONE")


def test_a_schedule_has_one_timer_however_often_it_is_put() -> None:
    timers = TimersInMemory()
    timer, schedule = EventBridgeTimer(timers, PLACES), a_schedule()
    once = Timetable(expression="at(2026-12-01T08:00:00)", zone="Europe/Paris")

    timer.put(schedule)
    timer.put(replace(schedule, enabled=False, timetable=once))

    [kept] = timers.kept.values()
    assert (kept["State"], kept["ScheduleExpressionTimezone"]) == ("DISABLED", "Europe/Paris")
    assert kept["ActionAfterCompletion"] == "DELETE"
    timer.remove(ACME, ALICE, "s1")
    timer.remove(ACME, ALICE, "s1")
    assert timers.kept == {}


def test_a_rate_begins_when_it_is_due_for_the_first_time_and_not_at_once() -> None:
    timers, schedule = TimersInMemory(), a_schedule()
    timer = EventBridgeTimer(timers, PLACES)

    timer.put(schedule)
    [kept] = timers.kept.values()
    assert kept["StartDate"] == schedule.created_at + timedelta(days=1)
    timer.put(replace(schedule, changed_at=schedule.created_at + timedelta(hours=30)))
    [kept] = timers.kept.values()
    assert kept["StartDate"] == schedule.created_at + timedelta(days=2)
    timer.put(replace(schedule, timetable=Timetable(expression="cron(0 8 * * ? *)", zone="UTC")))
    [kept] = timers.kept.values()
    assert "StartDate" not in kept


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (refusal("ValidationException"), InvalidRequestError),
        (refusal("ServiceQuotaExceededException", 402), UnavailableError),
        (refusal("ConflictException", 409), UnavailableError),
        (refusal("ThrottlingException", 429), UnavailableError),
        (refusal("InternalServerException", 500), UnavailableError),
        (EndpointConnectionError(endpoint_url="x"), UnavailableError),
        (refusal("AccessDeniedException", 403), ClientError),
    ],
)
def test_an_error_of_the_service_is_told_as_ours(error: Exception, ours: type[Exception]) -> None:
    with pytest.raises(ours):
        EventBridgeTimer(Failing(error), PLACES).put(a_schedule())


def test_a_timer_that_may_be_there_still_is_told() -> None:
    with pytest.raises(UnavailableError):
        EventBridgeTimer(Failing(refusal("InternalServerException", 500)), PLACES).remove(
            ACME, ALICE, "s1"
        )


def test_a_name_begins_with_whose_it_is_and_is_as_long_as_a_name_may_be() -> None:
    longest = UserId("é" * 128)
    name = timer_of(ACME, longest, "0123456789abcdef0123")

    assert name.startswith(timers_of(ACME, longest))
    assert timers_of(ACME, longest).startswith(timers_of(ACME))
    assert not name.startswith(timers_of(GLOBEX))
    assert not name.startswith(timers_of(ACME, ALICE))
    assert name.isascii()
    assert len(name) <= 64
