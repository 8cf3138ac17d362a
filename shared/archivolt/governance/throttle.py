"""How often something may be tried by callers that no token names."""

from archivolt.domain.errors import RateLimitedError
from archivolt.ports.clock import Clock
from archivolt.ports.governance import RateCounter


class Throttle:
    """Counts attempts in fixed windows, shared by every process."""

    def __init__(self, counter: RateCounter, clock: Clock) -> None:
        self._counter = counter
        self._clock = clock

    def count(self, key: str, limit: int, window: int) -> None:
        """Count one attempt under `key`; `window` is in seconds.

        Raises:
            RateLimitedError: `rate_limited`, with the seconds until the next window.

        """
        second = int(self._clock.now().timestamp())
        start = second - second % window
        end = start + window
        calls = self._counter.increment(f"attempts#{key}", window_start=start, expires_at=end)
        if calls > limit:
            raise RateLimitedError("rate_limited", retry_after=end - second)
