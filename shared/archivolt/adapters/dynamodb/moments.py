"""Moments that a condition can compare: whole microseconds since 1970, or text of one width."""

from datetime import UTC, datetime, timedelta
from typing import Final

_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT: Final = timedelta(microseconds=1)


def to_number(moment: datetime) -> int:
    """Return a moment as a number, exactly."""
    return (moment - _START) // _UNIT


def from_number(number: int) -> datetime:
    """Return the moment, in UTC, that `to_number` was given."""
    return _START + number * _UNIT


def to_text(moment: datetime) -> str:
    """Return a moment as text, in UTC and of one width: text order is the order of time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
