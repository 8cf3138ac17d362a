"""Ranges of moments and of sizes, as people write them in French and English.

Moments: `2026-01-01..2026-02-01`, `2026-01..`, `>2026-01-01`, `before 2025`, `7d`, `last 7 days`,
`30d..7d`, `this month`, `hier`. A day, a month or a year stands for all of it, in UTC, and both
ends of `..` belong to the range. Sizes: `>10kb`, `1kb..2mb`, `<= 1,5 Mo`; a kb is 1,000 bytes, a
kib 1,024.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.folding import folded


class Range(NamedTuple):
    """A closed range; None is open. Moments are epoch seconds, sizes bytes."""

    least: float | None = None
    most: float | None = None


_Reader = Callable[[str], Range | None]


class _Readers(NamedTuple):
    """How to read what stands alone, at an end of `..`, and after an operator.

    `step` is the least distance of two values.
    """

    alone: _Reader
    end: _Reader
    compared: _Reader
    step: float


_OPERATORS: Final = {
    **{sign: sign for sign in (">=", "<=", ">", "<")},
    **dict.fromkeys(("since ", "from ", "depuis "), ">="),
    **dict.fromkeys(("after ", "apres "), ">"),
    **dict.fromkeys(("before ", "avant "), "<"),
}
_COMPARISON: Final = re.compile(rf"({'|'.join(_OPERATORS)})\s*(.+)")
_UNITS: Final = {
    **dict.fromkeys(("min", "minute", "minutes"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hour", "hours", "heure", "heures"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days", "j", "jour", "jours"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks", "semaine", "semaines"), timedelta(weeks=1)),
    **dict.fromkeys(("month", "months", "mois"), timedelta(days=30)),
    **dict.fromkeys(("y", "year", "years", "an", "ans", "annee", "annees"), timedelta(days=365)),
}
_AGO: Final = re.compile(
    r"(?:(?:the|les?|la) )?(?:(?:last|past|dernier\w*) )?"
    r"(\d{1,6})? ?(?:dernier\w* )?([a-z]+)(?: dernier\w*)?"
)
_DATE: Final = re.compile(r"(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?")
_SIZE: Final = re.compile(r"(\d{1,15})(?:[.,](\d{1,6}))? ?([kmg]?)(i?)(?:b|o|bytes?|octets?)?")
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3}
_DECEMBER: Final = 12


def moment_range(raw: str, *, now: datetime, parameter: str) -> Range:
    """Return a range of moments; "" is open.

    Raises:
        InvalidRequestError: `invalid_date_range`, with the parameter and how to write one.

    """
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)

    def alone(text: str) -> Range | None:
        return _dates(text, today) or _this(text, today) or _since(text, now)

    def end(text: str) -> Range | None:
        return _dates(text, today) or _ago(text, now)

    dates = partial(_dates, today=today)
    try:
        found = _read(folded(raw).strip(), _Readers(alone, end, compared=dates, step=1e-6))
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise InvalidRequestError("invalid_date_range", parameter=parameter)
    return found


def size_range(raw: str, *, parameter: str) -> Range:
    """Return a range of sizes; "" is open.

    A size alone is as exact as it is written: `10kb` is from 10,000 to 10,999 bytes.

    Raises:
        InvalidRequestError: `invalid_size_range`, with the parameter and how to write one.

    """
    readers = _Readers(alone=_size_as_written, end=_size, compared=_size, step=1)
    found = _read(folded(raw).strip(), readers)
    if found is None:
        raise InvalidRequestError("invalid_size_range", parameter=parameter)
    return found


def _read(text: str, readers: _Readers) -> Range | None:
    if not text:
        return Range()
    if ".." in text:
        first, _, last = text.partition("..")
        return _between(*(_read_end(part.strip(), readers) for part in (first, last)))
    comparison = _COMPARISON.fullmatch(text)
    if comparison is None:
        return readers.alone(text)
    compared = readers.compared(comparison[2])
    return compared and _beside(_OPERATORS[comparison[1]], compared, readers.step)


def _read_end(text: str, readers: _Readers) -> Range | None:
    return readers.end(text) if text else Range()


def _between(first: Range | None, last: Range | None) -> Range | None:
    if first is None or last is None:
        return None
    if first.least is not None and last.most is not None and first.least > last.most:
        first, last = last, first
    return Range(first.least, last.most)


def _beside(operator: str, span: Range, step: float) -> Range:
    least, most = span.least or 0, span.most or 0
    return {
        ">=": Range(least=least),
        ">": Range(least=most + step),
        "<=": Range(most=most),
        "<": Range(most=least - step),
    }[operator]


def _dates(text: str, today: datetime) -> Range | None:
    """Read a day, month or year, or a moment to the second."""
    if text in {"today", "aujourd'hui"}:
        return _span(today, today + timedelta(days=1))
    if text in {"yesterday", "hier"}:
        return _span(today - timedelta(days=1), today)
    date = _DATE.fullmatch(text)
    if date is not None:
        year, month, day = (int(part or 0) for part in date.groups())
        return _calendar_span(year, month, day)
    if not _DATE.match(text):
        return None
    moment = datetime.fromisoformat(text.upper())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return _span(moment, moment + timedelta(seconds=1))


def _calendar_span(year: int, month: int, day: int) -> Range:
    """Return a day; or a month, for day 0; or a year, for month 0."""
    start = datetime(year, month or 1, day or 1, tzinfo=UTC)
    if day:
        return _span(start, start + timedelta(days=1))
    if month and month < _DECEMBER:
        return _span(start, start.replace(month=month + 1))
    return _span(start, start.replace(year=start.year + 1, month=1))


def _span(start: datetime, end: datetime) -> Range:
    """Return from `start` until just before `end`."""
    return Range(start.timestamp(), (end - timedelta(microseconds=1)).timestamp())


def _this(text: str, today: datetime) -> Range | None:
    """Read `this month` and its like: from its start."""
    start = {
        **dict.fromkeys(("this week", "cette semaine"), today - timedelta(days=today.weekday())),
        **dict.fromkeys(("this month", "ce mois"), today.replace(day=1)),
        **dict.fromkeys(("this year", "cette annee"), today.replace(day=1, month=1)),
    }.get(text)
    return Range(least=start.timestamp()) if start else None


def _since(text: str, now: datetime) -> Range | None:
    moment = _ago(text, now)
    return moment and Range(least=moment.least)


def _ago(text: str, now: datetime) -> Range | None:
    """Read `7d` and `last 7 days` as the moment that long before now."""
    ago = _AGO.fullmatch(text)
    unit = _UNITS.get(ago[2]) if ago else None
    if ago is None or unit is None:
        return None
    moment = (now - int(ago[1] or 1) * unit).timestamp()
    return Range(moment, moment)


def _size(text: str) -> Range | None:
    written = _size_as_written(text)
    return written and Range(written.least, written.least)


def _size_as_written(text: str) -> Range | None:
    size = _SIZE.fullmatch(text)
    if size is None or (size[4] and not size[3]):
        return None
    unit = (1_024 if size[4] else 1_000) ** _POWERS[size[3]]
    decimals = size[2] or ""
    least = round(float(f"{size[1]}.{decimals or 0}") * unit)
    return Range(least, least + max(unit // 10 ** len(decimals), 1) - 1)
