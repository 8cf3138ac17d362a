"""How long something may take as a whole, whatever it waits for on the way."""

from collections.abc import Callable
from datetime import datetime, timedelta


class Deadline:
    """The end of a piece of work, which its parts share.

    Args:
        now: Tells the time.
        seconds: How long it may take from now on.

    """

    def __init__(self, now: Callable[[], datetime], seconds: float) -> None:
        self._now = now
        self._ends = now() + timedelta(seconds=seconds)

    def sooner(self, seconds: float) -> "Deadline":
        """Return the end of a part that has so long at most."""
        return Deadline(self._now, min(seconds, self.left()))

    def left(self) -> float:
        """Return the seconds until it, 0 once it is over."""
        return max(0.0, (self._ends - self._now()).total_seconds())
