"""When a timetable fires: `at(…)`, `rate(…)` and `cron(…)` of EventBridge Scheduler.

Reference: Amazon EventBridge Scheduler user guide, "Schedule types". Of cron all is understood but
`W`: what is understood here is what a person may ask for, so that the next moment can be told.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.schedule import Timetable
from archivolt.domain.schedule_limits import (
    LOOKED_AT_FIRINGS,
    MAX_SCHEDULE_YEARS,
    MIN_SCHEDULE_MINUTES,
)

_AT: Final = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)", re.ASCII)
_RATE: Final = re.compile(
    r"rate\((?:1 (minute|hour|day)|([2-9]|[1-9]\d{1,4}) (minute|hour|day)s)\)", re.ASCII
)
_CRON: Final = re.compile(r"cron\(([^()]+)\)")
_PART: Final = re.compile(r"(?:(\*)|([0-9A-Z]+)(?:-([0-9A-Z]+))?)(?:/(\d{1,4}))?", re.ASCII)
_SECONDS: Final = {"minute": 60, "hour": 3_600, "day": 86_400}
_MONTHS: Final = [
    "JAN",
    "FEB",
    "MAR",
    "APR",
    "MAY",
    "JUN",
    "JUL",
    "AUG",
    "SEP",
    "OCT",
    "NOV",
    "DEC",
]
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_FIELDS: Final = 6
# What a system calls its own, and what no scheduler elsewhere knows.
_NO_ZONES: Final = frozenset({"localtime", "posixrules", "Factory"})
_WEEK: Final = 7
_DAYS: Final = 366 * MAX_SCHEDULE_YEARS

Day = Callable[[date], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cron:
    minutes: frozenset[int]
    hours: frozenset[int]
    months: frozenset[int]
    years: frozenset[int]
    is_day: Day

    def moments(self, after: datetime) -> Iterator[datetime]:
        """Yield the local moments after one, as long as it is worth looking."""
        day = after.date()
        for _ in range(_DAYS):
            if day.year in self.years and day.month in self.months and self.is_day(day):
                for hour in sorted(self.hours):
                    for minute in sorted(self.minutes):
                        yield datetime.combine(day, time(hour, minute), after.tzinfo)
            day += timedelta(days=1)


def is_once(timetable: Timetable) -> bool:
    """Tell whether a timetable fires once."""
    return timetable.expression.startswith("at(")


def is_rate(timetable: Timetable) -> bool:
    """Tell whether a timetable fires every so often, counted from when it was set up."""
    return timetable.expression.startswith("rate(")


def next_firing(timetable: Timetable, *, after: datetime, since: datetime) -> datetime | None:
    """Return the first moment after one, in UTC; None if there is none.

    `since` is when it was set up: a rate counts from there.

    Raises:
        InvalidRequestError: `schedule_expression`, `time_zone_unknown`.

    """
    return next(_firings(timetable, after=after, since=since), None)


def require_timetable(timetable: Timetable, *, now: datetime) -> None:
    """Check that a timetable can be kept: it fires, and not too often.

    Raises:
        InvalidRequestError: `schedule_expression`, `time_zone_unknown`, `schedule_never`,
            `schedule_too_often`.

    """
    before: datetime | None = None
    for count, moment in enumerate(_firings(timetable, after=now, since=now)):
        if before is not None and moment - before < timedelta(minutes=MIN_SCHEDULE_MINUTES):
            raise InvalidRequestError("schedule_too_often", minutes=MIN_SCHEDULE_MINUTES)
        if count >= LOOKED_AT_FIRINGS:
            return
        before = moment
    if before is None:
        raise InvalidRequestError("schedule_never")


def _firings(timetable: Timetable, *, after: datetime, since: datetime) -> Iterator[datetime]:
    zone, expression = _zone(timetable.zone), timetable.expression
    if match := _AT.fullmatch(expression):
        moment = _local(match.group(1), zone)
        far = after + timedelta(days=_DAYS)
        return iter([moment] if after < moment < far else [])
    if match := _RATE.fullmatch(expression):
        one, number, several = match.groups()
        seconds = int(number or 1) * _SECONDS[one or several]
        if seconds > _DAYS * _SECONDS["day"]:
            return iter([])
        return _every(seconds, after=after, since=since)
    if match := _CRON.fullmatch(expression):
        return _of_cron(_cron(match.group(1)), after.astimezone(zone))
    raise InvalidRequestError("schedule_expression")


def _of_cron(cron: _Cron, after: datetime) -> Iterator[datetime]:
    start = after.astimezone(UTC)
    for moment in cron.moments(after):
        found = moment.astimezone(UTC)
        # A moment that the change to summer time leaves out does not come.
        if found > start and found.astimezone(after.tzinfo).time() == moment.time():
            yield found


def _every(seconds: int, *, after: datetime, since: datetime) -> Iterator[datetime]:
    passed = max(0, int((after - since).total_seconds() // seconds))
    moment = since + timedelta(seconds=seconds * (passed + 1))
    while True:
        yield moment.astimezone(UTC)
        moment += timedelta(seconds=seconds)


def _zone(name: str) -> ZoneInfo:
    if name in _NO_ZONES:
        raise InvalidRequestError("time_zone_unknown", zone=name)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidRequestError("time_zone_unknown", zone=name) from error


def _local(text: str, zone: ZoneInfo) -> datetime:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidRequestError("schedule_expression") from error


def _cron(text: str) -> _Cron:
    fields = text.upper().split()
    if len(fields) != _FIELDS:
        raise InvalidRequestError("schedule_expression")
    minutes, hours, days, months, weekdays, years = fields
    if (days == "?") is (weekdays == "?"):
        raise InvalidRequestError("schedule_expression")
    return _Cron(
        minutes=_numbers(minutes, 0, 59),
        hours=_numbers(hours, 0, 23),
        months=_numbers(months, 1, 12, _MONTHS),
        years=_numbers(years, 1970, 2199),
        is_day=_weekday(weekdays) if days == "?" else _day_of_month(days),
    )


def _numbers(text: str, low: int, high: int, names: Sequence[str] = ()) -> frozenset[int]:
    """Return the numbers that a field stands for; names count from `low`."""
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise InvalidRequestError("schedule_expression")
        every, first, last, step = match.groups()
        start = low if every else _number(first, low, names)
        end = high if every or (step and not last) else _number(last or first, low, names)
        if not low <= start <= end <= high or step == "0":
            raise InvalidRequestError("schedule_expression")
        found.update(range(start, end + 1, int(step or 1)))
    return frozenset(found)


def _number(text: str, low: int, names: Sequence[str]) -> int:
    if text in names:
        return names.index(text) + low
    if not text.isdecimal():
        raise InvalidRequestError("schedule_expression")
    return int(text)


def _one(text: str, low: int, high: int, names: Sequence[str] = ()) -> int:
    found = _numbers(text, low, high, names)
    if len(found) != 1:
        raise InvalidRequestError("schedule_expression")
    return next(iter(found))


def _day_of_month(text: str) -> Day:
    if text == "L":
        return lambda day: day.day == monthrange(day.year, day.month)[1]
    days = _numbers(text, 1, 31)
    return lambda day: day.day in days


def _weekday(text: str) -> Day:
    """Return which days a field means: 1 is Sunday; `6L` the last Friday, `6#3` the third."""
    name, mark, number = text.partition("#")
    if mark:
        wanted, place = _one(name, 1, 7, _WEEKDAYS), _one(number, 1, 5)
        return lambda day: _weekday_of(day) == wanted and (day.day - 1) // _WEEK + 1 == place
    if text == "L":
        return lambda day: _weekday_of(day) == _WEEK
    if text.endswith("L"):
        wanted = _one(text[:-1], 1, 7, _WEEKDAYS)
        return lambda day: _weekday_of(day) == wanted and _is_last_of_its_kind(day)
    days = _numbers(text, 1, 7, _WEEKDAYS)
    return lambda day: _weekday_of(day) in days


def _weekday_of(day: date) -> int:
    return day.isoweekday() % _WEEK + 1


def _is_last_of_its_kind(day: date) -> bool:
    return day.day + _WEEK > monthrange(day.year, day.month)[1]
