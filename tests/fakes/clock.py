"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 9, 1, 8, 30, tzinfo=UTC)


class FrozenClock:
    """A `Clock` under the test's control."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, **duration: float) -> None:
        """Move forward, with the arguments of `timedelta`."""
        self._now += timedelta(**duration)
