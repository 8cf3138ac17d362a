"""What a person does without a tool: counted and recorded as a tool call is (decision 26).

Their own hand needs no second step and reads their own bytes; it has no way around the rate limit
or the audit log.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final

from archivolt.domain.erasure import pseudonym
from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.tool import Surface
from archivolt.ports.audit import AuditLog
from archivolt.ports.clock import Clock
from archivolt.tools.audit import Call, Recorder, text_in
from archivolt.tools.rate_limit import RateLimit

_KEPT: Final = ("tenant", "user", "webhook")


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
    def administering(
        self, principal: Principal, action: str, *, changes: bool = True, **arguments: object
    ) -> Generator[None, None, None]:
        """Count and record, as `doing`, what is done to a tenant or a user, and keep to whom.

        Args:
            principal: Who does it.
            action: What.
            changes: Whether it changes something; another tenant has it in its own log then, too.
            arguments: Of these `tenant`, `user`, `webhook` and `names`, of settings, are kept.

        Raises:
            RateLimitedError: `rate_limited`.
            UnavailableError: It cannot be recorded.

        """
        with self.recording(principal, action, arguments) as call:
            to_whom = _to_whom(arguments)
            call.details.update(_as_kept_by(principal.tenant, to_whom))
            self._rate_limit.count(principal, action, call.started)
            yield
            tenant = to_whom.get("tenant", principal.tenant)
            if changes and tenant != principal.tenant:
                there = _as_seen_in(TenantId(tenant), principal)
                with self.recording(there, action, arguments) as second:
                    second.details.update(to_whom, by_tenant=principal.tenant)

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


def _to_whom(arguments: Mapping[str, Any]) -> dict[str, str]:
    names = ", ".join(arguments.get("names", ()))
    kept = {name: text_in(arguments, name) for name in _KEPT} | {"names": names}
    return {name: text for name, text in kept.items() if text}


def _as_kept_by(tenant: TenantId, to_whom: Mapping[str, str]) -> Mapping[str, str]:
    """Return it without ids of other tenants' users: an erasure looks in their own log only."""
    of = to_whom.get("tenant", tenant)
    if of == tenant or "user" not in to_whom:
        return to_whom
    return {**to_whom, "user": pseudonym(TenantId(of), UserId(to_whom["user"]))}


def _as_seen_in(tenant: TenantId, principal: Principal) -> Principal:
    """Return somebody as another tenant's log names them: there could be one of the same id."""
    who = UserId(pseudonym(principal.tenant, principal.user))
    return replace(principal, tenant=tenant, user=who, token_id="", program="")
