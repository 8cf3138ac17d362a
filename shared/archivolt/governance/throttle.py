"""How often something may be tried by callers that no token names."""

from typing import Final

from archivolt.domain.errors import RateLimitedError
from archivolt.ports.clock import Clock
from archivolt.ports.governance import RateCounter

_CALLS: Final = "calls"


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
        calls = self._counter.add(f"attempts#{key}", [_CALLS], window=start, expires_at=end)
        if calls[_CALLS] > limit:
            raise RateLimitedError("rate_limited", retry_after=end - second)
