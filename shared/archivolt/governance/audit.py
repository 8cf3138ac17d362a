"""Who did what in a tenant, for those who administer it (O68)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from archivolt.domain.audit_limits import AUDIT_DAYS
from archivolt.domain.errors import ForbiddenError, InvalidRequestError, UnauthenticatedError
from archivolt.domain.identity import Principal, Role, UserId, user_id
from archivolt.ports.audit import AuditLog, AuditPage
from archivolt.ports.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which entries are wanted; by default everybody's of the last days."""

    since: datetime | None = None
    until: datetime | None = None
    user: str = ""
    action: str = ""


class AuditService:
    """Shows a tenant's audit log."""

    def __init__(self, log: AuditLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def page(
        self, principal: Principal, wanted: AuditFilter, *, limit: int, cursor: str | None = None
    ) -> AuditPage:
        """Return entries of the caller's own tenant, the newest first.

        Raises:
            ForbiddenError: `forbidden`: the caller does not administer the tenant.
            InvalidRequestError: `invalid_request`: not a user id; `unknown_page`.

        """
        if not principal.role.includes(Role.TENANT_ADMIN):
            raise ForbiddenError("forbidden")
        until = wanted.until or self._clock.now() + timedelta(seconds=1)
        return self._log.page(
            principal.tenant,
            since=wanted.since or until - timedelta(days=AUDIT_DAYS),
            until=until,
            user=_user(wanted.user),
            action=wanted.action,
            limit=limit,
            cursor=cursor,
        )


def _user(raw: str) -> UserId | None:
    if not raw:
        return None
    try:
        return user_id(raw)
    except UnauthenticatedError as error:
        raise InvalidRequestError("invalid_request", problem="user_unreadable") from error
