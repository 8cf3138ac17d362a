"""Moments that a condition can compare: whole microseconds since 1970, or text of one width."""

from datetime import UTC, datetime, timedelta
from typing import Final, cast

_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT: Final = timedelta(microseconds=1)


def to_number(moment: datetime) -> int:
    """Return a moment as a number, exactly."""
    return (moment - _START) // _UNIT


def from_number(number: int) -> datetime:
    """Return the moment, in UTC, that `to_number` was given."""
    return _START + number * _UNIT


def number_or_none(moment: datetime | None) -> int | None:
    """Return the number of a moment, None of none."""
    return None if moment is None else to_number(moment)


def moment_or_none(number: object) -> datetime | None:
    """Return the moment of a number as an item holds it, None of none."""
    return None if number is None else from_number(int(cast("int", number)))


def to_text(moment: datetime) -> str:
    """Return a moment as text, in UTC and of one width: text order is the order of time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
