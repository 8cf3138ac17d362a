"""What the timers of schedules are called: whose they are can be told by the beginning."""

import hashlib

from archivolt.domain.identity import TenantId, UserId

# A name has at most 64 characters (EventBridge Scheduler API reference, "CreateSchedule").
_DIGITS = 20


def timers_of(tenant: TenantId, user: UserId | None = None) -> str:
    """Return what the names of a tenant's timers begin with, or those of a user of it."""
    of_tenant = f"{_digest(tenant)}-"
    return of_tenant if user is None else f"{of_tenant}{_digest(f'{tenant}/{user}')}-"


def timer_of(tenant: TenantId, user: UserId, schedule_id: str) -> str:
    """Return the name of the timer of a schedule."""
    return f"{timers_of(tenant, user)}{schedule_id}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
