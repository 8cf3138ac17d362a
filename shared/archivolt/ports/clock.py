"""The time."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time, in UTC."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        ...
