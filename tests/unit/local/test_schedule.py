import pytest

from archivolt_local.events.schedule import interval_of, schedule_event
from archivolt_local.provisioning.deployment import Schedule
from tests.fakes.clock import FrozenClock

DAILY = Schedule(function="archivolt-reconcile", rule="Daily", expression="rate(1 day)")


@pytest.mark.parametrize(
    ("expression", "seconds"),
    [
        ("rate(1 minute)", 60),
        ("rate(5 minutes)", 300),
        ("rate(2 hours)", 7_200),
        ("rate(1 day)", 86_400),
    ],
)
def test_a_rate_is_an_interval(expression: str, seconds: int) -> None:
    assert interval_of(expression) == seconds


def test_an_expression_that_is_no_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="not a rate"):
        interval_of("cron(0 12 * * ? *)")


def test_the_event_has_the_form_eventbridge_gives_it() -> None:
    event = schedule_event(DAILY, FrozenClock())
    assert event["detail-type"] == "Scheduled Event"
    assert event["source"] == "aws.events"
    assert event["time"] == "2026-09-01T08:30:00Z"
    assert event["resources"] == ["arn:aws:events:us-east-1:000000000000:rule/Daily"]
    assert event["detail"] == {}
