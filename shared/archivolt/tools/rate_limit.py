"""The rate limit step: calls per token, and per tool of a token, in fixed windows (O67)."""

from dataclasses import dataclass
from datetime import datetime

from archivolt.domain import limits
from archivolt.domain.errors import RateLimitedError
from archivolt.domain.identity import Principal
from archivolt.ports.governance import RateCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """The limits, and the counter they hold against. `window` is in seconds."""

    counter: RateCounter
    per_token: int = limits.MAX_CALLS_PER_TOKEN
    per_tool: int = limits.MAX_CALLS_PER_TOOL
    window: int = limits.RATE_WINDOW_SECONDS

    def count(self, principal: Principal, tool: str, now: datetime) -> None:
        """Count one call of `tool`; a refused call counts too.

        Raises:
            RateLimitedError: `rate_limited`, with the seconds until the next window.

        """
        token = f"{principal.tenant}#{principal.user}#{principal.token_id}"
        self._count(token, self.per_token, now)
        self._count(f"{token}#{tool}", self.per_tool, now)

    def _count(self, key: str, limit: int, now: datetime) -> None:
        second = int(now.timestamp())
        start = second - second % self.window
        end = start + self.window
        if self.counter.increment(key, window_start=start, expires_at=end) > limit:
            raise RateLimitedError("rate_limited", retry_after=end - second)
