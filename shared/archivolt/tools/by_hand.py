"""What a person does without a tool: counted and recorded as a tool call is (decision 26).

Their own hand needs no second step and reads their own bytes; it has no way around the rate limit
or the audit log.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal
from archivolt.domain.tool import Surface
from archivolt.ports.audit import AuditLog
from archivolt.ports.clock import Clock
from archivolt.tools.audit import Call, Recorder
from archivolt.tools.rate_limit import RateLimit


class ByHand:
    """Surrounds what a person does."""

    def __init__(self, rate_limit: RateLimit, audit: AuditLog, clock: Clock) -> None:
        self._rate_limit = rate_limit
        self._recorder = Recorder(audit, clock)
        self._clock = clock

    @contextmanager
    def doing(
        self,
        principal: Principal,
        action: str,
        *,
        surface: Surface = Surface.IN_APP,
        **arguments: object,
    ) -> Generator[None, None, None]:
        """Count and record what is done inside; of the arguments only a digest is kept.

        Raises:
            RateLimitedError: `rate_limited`.
            UnavailableError: It cannot be recorded.

        """
        with self.recording(principal, action, arguments, surface) as call:
            self._rate_limit.count(principal, action, call.started)
            yield

    @contextmanager
    def recording(
        self,
        principal: Principal,
        action: str,
        arguments: Mapping[str, Any],
        surface: Surface = Surface.IN_APP,
    ) -> Generator[Call, None, None]:
        """Record what is done inside; whoever does it counts it.

        Raises:
            UnavailableError: It cannot be recorded.

        """
        with self._recorder.recorded(principal, action, arguments, surface) as call:
            yield call

    def note_refusal(
        self, principal: Principal, action: str, error: ForbiddenError, *, surface: Surface
    ) -> None:
        """Count and record what somebody was refused before it began.

        Raises:
            RateLimitedError: `rate_limited`.
            UnavailableError: It cannot be recorded.

        """
        with suppress(ForbiddenError), self.doing(principal, action, surface=surface):
            raise error

    def count_unrecorded(self, principal: Principal, action: str) -> None:
        """Count what leaves no trace in the audit log.

        Raises:
            RateLimitedError: `rate_limited`.

        """
        self._rate_limit.count(principal, action, self._clock.now())

    def count(self, call: Call) -> None:
        """Count an action that is being recorded.

        Raises:
            RateLimitedError: `rate_limited`.

        """
        self._rate_limit.count(call.principal, call.action, call.started)
