"""Tenants and the people seen in them: who may come in, and until when they were heard of.

Who is not known here is welcome: a deployment is used before anybody is registered, and each tenant
and user is noted at their first request.
"""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final

from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal, Role, TenantId, UserId


class TenantState(StrEnum):
    """Whether a tenant's people come in, and its work is done."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    """Nobody comes in and no provider is called; its data stays. It can be resumed."""
    DELETING = "deleting"
    """Its data is being erased; there is no way back."""
    DELETED = "deleted"
    """Nothing of it is left but its id, which nobody takes again."""


GOING: Final = (TenantState.DELETING, TenantState.DELETED)


class UserState(StrEnum):
    """Whether somebody comes in."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    DELETING = "deleting"
    """What is held of them is being erased; they are forgotten at its end, and not before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A tenant as it is kept.

    `calls_per_window` is its own limit of calls in a window, 0 for that of the deployment.
    """

    id: TenantId
    name: str = ""
    state: TenantState = TenantState.ACTIVE
    first_seen: datetime | None = None
    changed_at: datetime | None = None
    calls_per_window: int = 0

    @property
    def is_going(self) -> bool:
        """Whether it is being erased, or was."""
        return self.state in GOING


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantUser:
    """Somebody as they were seen; `role` is that of their last own sign-in."""

    tenant: TenantId
    id: UserId
    role: Role = Role.VIEWER
    state: UserState = UserState.ACTIVE
    first_seen: datetime | None = None
    last_seen: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of a caller; None: nothing yet."""

    tenant: Tenant | None = None
    user: TenantUser | None = None


def require_active(tenant: Tenant | None) -> None:
    """Check that a tenant's people may come in and its work be done.

    Raises:
        ForbiddenError: `tenant_suspended`, `tenant_deleting`.

    """
    if tenant is None or tenant.state is TenantState.ACTIVE:
        return
    suspended = tenant.state is TenantState.SUSPENDED
    raise ForbiddenError("tenant_suspended" if suspended else "tenant_deleting")


def require_welcome(standing: Standing) -> None:
    """Check that a caller may come in.

    Raises:
        ForbiddenError: `tenant_suspended`, `tenant_deleting`, `user_suspended`, `user_deleting`.

    """
    require_active(standing.tenant)
    if standing.user is None or standing.user.state is UserState.ACTIVE:
        return
    suspended = standing.user.state is UserState.SUSPENDED
    raise ForbiddenError("user_suspended" if suspended else "user_deleting")


def require_no_lesser_role(principal: Principal, than: TenantUser | None) -> None:
    """Check that a caller has no lesser role than somebody of whom they end something.

    Else a tenant's administrator could shut out whoever runs the deployment.

    Raises:
        ForbiddenError: `forbidden`.

    """
    if than is not None and not principal.role.includes(than.role):
        raise ForbiddenError("forbidden")
