"""The system's clock."""

from datetime import UTC, datetime


class SystemClock:
    """`Clock` of the operating system."""

    def now(self) -> datetime:
        """Return the current moment, in UTC."""
        return datetime.now(UTC)  # noqa: TID251
