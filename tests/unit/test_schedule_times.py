"""When timetables fire."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.schedule import Timetable
from archivolt.domain.schedule_limits import MIN_SCHEDULE_MINUTES
from archivolt.domain.schedule_times import is_once, next_firing, require_timetable

# A Tuesday.
NOW = datetime(2026, 9, 1, 8, 30, tzinfo=UTC)


def firings(expression: str, count: int = 3, *, zone: str = "UTC", now: datetime = NOW) -> str:
    found: list[str] = []
    after = now
    for _ in range(count):
        moment = next_firing(Timetable(expression=expression, zone=zone), after=after, since=now)
        if moment is None:
            break
        found.append(moment.strftime("%y-%m-%d %H:%M"))
        after = moment
    return ", ".join(found)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("at(2026-09-01T09:00:00)", "26-09-01 09:00"),
        ("at(2026-09-01T08:30:00)", ""),
        ("rate(1 day)", "26-09-02 08:30, 26-09-03 08:30, 26-09-04 08:30"),
        ("rate(90 minutes)", "26-09-01 10:00, 26-09-01 11:30, 26-09-01 13:00"),
        ("cron(0 8 ? * MON-FRI *)", "26-09-02 08:00, 26-09-03 08:00, 26-09-04 08:00"),
        ("cron(0/20 8 * * ? *)", "26-09-01 08:40, 26-09-02 08:00, 26-09-02 08:20"),
        ("cron(0 9,18 L * ? *)", "26-09-30 09:00, 26-09-30 18:00, 26-10-31 09:00"),
        ("cron(0 0 ? * 6L *)", "26-09-25 00:00, 26-10-30 00:00, 26-11-27 00:00"),
        ("cron(0 0 ? * MON#1 *)", "26-09-07 00:00, 26-10-05 00:00, 26-11-02 00:00"),
        ("cron(0 0 ? * L *)", "26-09-05 00:00, 26-09-12 00:00, 26-09-19 00:00"),
        ("cron(0 12 29 feb ? *)", "28-02-29 12:00, 32-02-29 12:00, 36-02-29 12:00"),
        ("cron(0 12 1 1/6 ? 2027-2028)", "27-01-01 12:00, 27-07-01 12:00, 28-01-01 12:00"),
        ("cron(0 12 30 2 ? *)", ""),
        ("cron(0 12 1 1 ? 2025)", ""),
    ],
)
def test_a_timetable_fires_when_it_says(expression: str, expected: str) -> None:
    assert firings(expression) == expected


def test_a_timetable_follows_the_clocks_of_its_zone() -> None:
    before_winter = datetime(2026, 10, 24, 0, 0, tzinfo=UTC)

    assert firings("cron(0 8 * * ? *)", zone="Europe/Paris", now=before_winter) == (
        "26-10-24 06:00, 26-10-25 07:00, 26-10-26 07:00"
    )
    assert firings("at(2026-12-01T08:00:00)", zone="Europe/Paris") == "26-12-01 07:00"


def test_a_moment_that_summer_time_leaves_out_does_not_come() -> None:
    before_summer = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)

    assert firings("cron(30 2 * * ? *)", 2, zone="Europe/Paris", now=before_summer) == (
        "26-03-30 00:30, 26-03-31 00:30"
    )


@pytest.mark.parametrize(
    "expression",
    [
        *("", "daily", "rate(0 days)", "rate(1 days)", "rate(2 day)", "rate(5 weeks)"),
        *("at(2026-13-01T00:00:00)", "at(2026-12-01)", "at(2026-12-01T08:00:00Z)", "at(now)"),
        *("cron(* * * * *)", "cron(0 8 * * * *)", "cron(0 8 ? * ? *)", "cron(60 8 * * ? *)"),
        *("cron(0 24 * * ? *)", "cron(0 8 0 * ? *)", "cron(0 8 15W * ? *)", "cron(0 8 ? * 8 *)"),
        *("cron(0 8 ? * MON,TUE#2 *)", "cron(0 8 ? * MON#6 *)", "cron(0 8 ? * #1 *)"),
        *("cron(5-1 8 * * ? *)", "cron(0/0 8 * * ? *)", "cron(0 8 ? * XL *)", "cron(, 8 * * ? *)"),
        *("rate(1 day)\n", "cron(0 8 * * ? *) ", "cron(٣ 8 * * ? *)", "rate(٣ days)"),
    ],
)
def test_what_is_no_timetable_is_refused(expression: str) -> None:
    with pytest.raises(InvalidRequestError, match="schedule_expression"):
        firings(expression)


@pytest.mark.parametrize(
    "zone",
    [
        *("Mars/Phobos", "", "../etc/passwd", "/etc/passwd", "x\0y", "."),
        *("localtime", "posixrules", "Factory"),
    ],
)
def test_a_zone_that_is_none_is_refused(zone: str) -> None:
    with pytest.raises(InvalidRequestError, match="time_zone_unknown"):
        firings("cron(0 8 * * ? *)", zone=zone)


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("rate(1 minute)", "schedule_too_often"),
        ("cron(* 8 ? * * *)", "schedule_too_often"),
        ("cron(0,10 8 1 1 ? *)", "schedule_too_often"),
        ("at(2026-08-01T00:00:00)", "schedule_never"),
        ("at(2099-08-01T00:00:00)", "schedule_never"),
        ("rate(44000 days)", "schedule_never"),
        ("rate(99999 days)", "schedule_never"),
        ("cron(0 0 31 2 ? *)", "schedule_never"),
    ],
)
def test_what_never_fires_or_too_often_is_not_kept(expression: str, code: str) -> None:
    with pytest.raises(InvalidRequestError, match=code):
        require_timetable(Timetable(expression=expression, zone="UTC"), now=NOW)


@pytest.mark.parametrize(
    "expression", ["rate(15 minutes)", "cron(0/15 * * * ? *)", "at(2026-09-02T00:00:00)"]
)
def test_what_fires_seldom_enough_is_kept(expression: str) -> None:
    require_timetable(Timetable(expression=expression, zone="Europe/Paris"), now=NOW)


def test_only_a_moment_fires_once() -> None:
    assert is_once(Timetable(expression="at(2026-09-02T00:00:00)", zone="UTC"))
    assert not is_once(Timetable(expression="rate(1 day)", zone="UTC"))


@settings(max_examples=40, deadline=None)
@given(text=st.text(alphabet="atrecon()0123456789*?/,-#LMON TU:", max_size=40))
def test_anything_that_is_written_is_a_timetable_or_refused(text: str) -> None:
    for written in (text, f"cron({text})"):
        try:
            moment = next_firing(Timetable(expression=written, zone="UTC"), after=NOW, since=NOW)
        except InvalidRequestError:
            continue
        assert moment is None or moment > NOW


@settings(max_examples=20, deadline=None)
@given(minutes=st.integers(MIN_SCHEDULE_MINUTES, 9_999), passed=st.integers(0, 10**7))
def test_a_rate_counts_from_where_it_was_set_up(minutes: int, passed: int) -> None:
    timetable = Timetable(expression=f"rate({minutes} minutes)", zone="UTC")
    after = NOW + timedelta(seconds=passed)

    moment = next_firing(timetable, after=after, since=NOW)

    assert moment is not None
    assert timedelta(0) < moment - after <= timedelta(minutes=minutes)
    assert (moment - NOW) % timedelta(minutes=minutes) == timedelta(0)
