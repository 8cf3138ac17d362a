"""Where tenants and the people seen in them are kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.tenancy import Standing, Tenant, TenantState, TenantUser, UserState


class TenantDirectory(Protocol):
    """Keeps tenants and their people. Every implementation passes `tests/contract`."""

    def standing(self, tenant: TenantId, user: UserId) -> Standing:
        """Return what is known of a caller; it costs one read."""
        ...

    def note(self, seen: TenantUser, *, known: Standing) -> None:
        """Note that somebody was seen; `known` is what was known of them before.

        What states say is left as it is, whoever changes it meanwhile.
        """
        ...

    def add(self, tenant: Tenant) -> None:
        """Keep a new tenant.

        Raises:
            ConflictError: `tenant_exists`.

        """
        ...

    def tenant(self, tenant: TenantId) -> Tenant | None:
        """Return a tenant; None: it is not known."""
        ...

    def tenants(self, *, limit: int, after: str = "") -> Sequence[Tenant]:
        """Return at most `limit` tenants by their ids, those after an id."""
        ...

    def change(self, tenant: TenantId, *, name: str | None, calls: int | None) -> Tenant:
        """Change a tenant's name, or its limit of calls; None leaves one as it is.

        Raises:
            NotFoundError: `tenant_not_found`.
            ConflictError: `tenant_going`: it is being deleted, or is deleted.

        """
        ...

    def set_state(self, tenant: TenantId, state: TenantState, at: datetime) -> Tenant:
        """Change a tenant's state; deleting ends in deleted and in nothing else.

        One that is deleted has neither a name nor a limit any more.

        Raises:
            NotFoundError: `tenant_not_found`.
            ConflictError: `tenant_going`: it is being deleted, or is deleted.

        """
        ...

    def users(self, tenant: TenantId, *, limit: int, after: str = "") -> Sequence[TenantUser]:
        """Return at most `limit` people seen in a tenant by their ids, those after an id."""
        ...

    def user(self, tenant: TenantId, user: UserId) -> TenantUser | None:
        """Return somebody; None: they were never seen."""
        ...

    def set_user_state(self, tenant: TenantId, user: UserId, state: UserState) -> TenantUser:
        """Change somebody's state, to one but deleting.

        Raises:
            NotFoundError: `user_not_found`: they were never seen.
            ConflictError: `user_going`: they are being erased.

        """
        ...

    def shut_out(self, tenant: TenantId, user: UserId) -> None:
        """Have somebody deleting, seen or not, until they are forgotten."""
        ...

    def forget_user(self, tenant: TenantId, user: UserId) -> None:
        """Forget somebody; nobody is no error."""
        ...
