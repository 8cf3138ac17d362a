"""The rate limit step: calls per token, tool of a token, and tenant, in fixed windows (O67).

Every door counts here, so that no door has calls of its own. What a token calls is counted in one
write, and its tenant's calls in another at the same time: one wait, whatever the limits.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final

from archivolt.domain import limits
from archivolt.domain.errors import RateLimitedError
from archivolt.domain.identity import Principal, TenantId
from archivolt.ports.governance import RateCounter

_CALLS: Final = "calls"
_AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """The limits, and the counter they hold against. `window` is in seconds.

    `of_tenant` gives a tenant's own limit, 0 for `per_tenant`.
    """

    counter: RateCounter
    per_token: int = limits.MAX_CALLS_PER_TOKEN
    per_tool: int = limits.MAX_CALLS_PER_TOOL
    per_tenant: int = limits.MAX_CALLS_PER_TENANT
    window: int = limits.RATE_WINDOW_SECONDS
    of_tenant: Callable[[TenantId], int] = lambda tenant: 0  # noqa: ARG005  none has its own

    def count(self, principal: Principal, tool: str, now: datetime) -> None:
        """Count one call of `tool`; a refused call counts too.

        Raises:
            RateLimitedError: `rate_limited`, with the seconds until the next window.
            UnavailableError: It cannot be counted.

        """
        second = int(now.timestamp())
        start = second - second % self.window
        end = start + self.window
        key, own = f"{principal.tenant}#{principal.user}#{principal.token_id}", f"tool:{tool}"
        of_tenant = _threads().submit(
            self.counter.add, f"tenant#{principal.tenant}", [_CALLS], window=start, expires_at=end
        )
        try:
            of_token = self.counter.add(key, [_CALLS, own], window=start, expires_at=end)
        finally:
            tenants_calls = of_tenant.result()[_CALLS]
        per_tenant = self.of_tenant(principal.tenant) or self.per_tenant
        if (
            of_token[_CALLS] > self.per_token
            or of_token[own] > self.per_tool
            or tenants_calls > per_tenant
        ):
            raise RateLimitedError("rate_limited", retry_after=end - second)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="rates")
