"""Tenants and their people, for those who administer them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
)
from archivolt.domain.identity import Principal, TenantId, UserId, tenant_id, user_id
from archivolt.domain.rights import may_reach_tenant
from archivolt.domain.tenancy import (
    Tenant,
    TenantState,
    TenantUser,
    UserState,
    require_no_lesser_role,
)
from archivolt.domain.vault import VaultAccess
from archivolt.governance.admission import Admission
from archivolt.ports.clock import Clock
from archivolt.ports.oauth import OAuthGrantStore
from archivolt.ports.personal_tokens import PersonalTokenStore
from archivolt.ports.tenancy import TenantDirectory
from archivolt.ports.vaults import VaultDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTenant:
    """A tenant to make."""

    id: str
    name: str = ""
    calls_per_window: int = 0


class Tenants:
    """Makes, shows, suspends and resumes tenants, and their users.

    Who may call what, the table of rights says; whose tenant it may be, is said here.

    Args:
        directory: Keeps them.
        admission: What has to look again after a change.
        clock: The time.
        tokens: Gives where personal access tokens are kept, when first needed.
        grants: Gives where what people let in is kept, when first needed.
        vaults: Knows who shares which vault.

    """

    def __init__(
        self,
        directory: TenantDirectory,
        admission: Admission,
        clock: Clock,
        *,
        tokens: Callable[[], PersonalTokenStore],
        grants: Callable[[], OAuthGrantStore],
        vaults: VaultDirectory,
    ) -> None:
        self._directory = directory
        self._admission = admission
        self._clock = clock
        self._tokens = tokens
        self._grants = grants
        self._vaults = vaults

    def all(self, *, limit: int, after: str = "") -> Sequence[Tenant]:
        """Return tenants by their ids."""
        return self._directory.tenants(limit=limit, after=after)

    def create(self, new: NewTenant) -> Tenant:
        """Make a tenant, before anybody of it came.

        Raises:
            InvalidRequestError: `invalid_request`: it has not the form of an id.
            ConflictError: `tenant_exists`.

        """
        try:
            made = tenant_id(new.id)
        except UnauthenticatedError as error:
            raise InvalidRequestError("invalid_request", problem="tenant_unreadable") from error
        tenant = Tenant(
            id=made,
            name=new.name,
            first_seen=self._clock.now(),
            calls_per_window=new.calls_per_window,
        )
        self._directory.add(tenant)
        self._admission.forget(made)
        return tenant

    def show(self, principal: Principal, tenant: str) -> Tenant:
        """Return a tenant.

        Raises:
            NotFoundError: `tenant_not_found`: there is none, or it is another's.

        """
        found = self._directory.tenant(reached(principal, tenant))
        if found is None:
            raise NotFoundError("tenant_not_found", tenant=tenant)
        return found

    def change(
        self, principal: Principal, tenant: str, *, name: str | None, calls: int | None
    ) -> Tenant:
        """Change a tenant's name, or its own limit of calls (0: none); None leaves one as it is.

        Raises:
            NotFoundError: `tenant_not_found`.
            ConflictError: `tenant_going`.

        """
        changed = reached(principal, tenant)
        found = self._directory.change(changed, name=name, calls=calls)
        self._admission.forget(changed)
        return found

    def suspend(self, principal: Principal, tenant: str) -> Tenant:
        """Let nobody of a tenant in any more, from the next seconds on; its data stays.

        Raises:
            NotFoundError: `tenant_not_found`.
            ConflictError: `own_tenant`, `tenant_going`.

        """
        suspended = reached(principal, tenant)
        if suspended == principal.tenant:
            raise ConflictError("own_tenant")
        return self._set_state(suspended, TenantState.SUSPENDED)

    def resume(self, principal: Principal, tenant: str) -> Tenant:
        """Let a tenant's people in again.

        Raises:
            NotFoundError: `tenant_not_found`.
            ConflictError: `tenant_going`.

        """
        return self._set_state(reached(principal, tenant), TenantState.ACTIVE)

    def users(
        self, principal: Principal, tenant: str, *, limit: int, after: str = ""
    ) -> Sequence[TenantUser]:
        """Return who was seen in a tenant, by their ids.

        Raises:
            NotFoundError: `tenant_not_found`.

        """
        return self._directory.users(reached(principal, tenant), limit=limit, after=after)

    def user(self, principal: Principal, tenant: str, user: str) -> TenantUser:
        """Return somebody.

        Raises:
            NotFoundError: `tenant_not_found`, `user_not_found`.

        """
        found = self._directory.user(reached(principal, tenant), user_named(user))
        if found is None:
            raise NotFoundError("user_not_found", user=user)
        return found

    def memberships(self, principal: Principal, user: TenantUser) -> list[VaultAccess] | None:
        """Return which vaults somebody shares; None for who is of another tenant (R4)."""
        if user.tenant != principal.tenant:
            return None
        return self._vaults.accessible(user.tenant, user.id)

    def suspend_user(self, principal: Principal, tenant: str, user: str) -> TenantUser:
        """Let somebody in no more, and end their tokens of programs and what they let in.

        Raises:
            NotFoundError: `tenant_not_found`, `user_not_found`.
            ForbiddenError: `forbidden`: the caller has the lesser role.
            ConflictError: `own_user`, `user_going`.

        """
        of, who = reached(principal, tenant), user_named(user)
        if (of, who) == (principal.tenant, principal.user):
            raise ConflictError("own_user")
        require_no_lesser_role(principal, self._directory.user(of, who))
        suspended = self._directory.set_user_state(of, who, UserState.SUSPENDED)
        self._admission.forget(of)
        # After the state: nobody makes new ones meanwhile. What fails is done again by a retry.
        for token in self._tokens().of_user(of, who):
            self._tokens().remove(token)
        for grant in self._grants().of_user(of, who):
            self._grants().remove(grant)
        return suspended

    def resume_user(self, principal: Principal, tenant: str, user: str) -> TenantUser:
        """Let somebody in again; their former tokens stay ended.

        Raises:
            NotFoundError: `tenant_not_found`, `user_not_found`.
            ForbiddenError: `forbidden`: the caller has the lesser role.
            ConflictError: `user_going`: they are being erased.

        """
        of, who = reached(principal, tenant), user_named(user)
        require_no_lesser_role(principal, self._directory.user(of, who))
        resumed = self._directory.set_user_state(of, who, UserState.ACTIVE)
        self._admission.forget(of)
        return resumed

    def _set_state(self, tenant: TenantId, state: TenantState) -> Tenant:
        changed = self._directory.set_state(tenant, state, self._clock.now())
        self._admission.forget(tenant)
        return changed


def reached(principal: Principal, tenant: str) -> TenantId:
    """Return the tenant if it is the caller's own, or the caller has all (S34).

    Raises:
        NotFoundError: `tenant_not_found`.

    """
    if not may_reach_tenant(principal, tenant):
        raise NotFoundError("tenant_not_found", tenant=tenant)
    try:
        return tenant_id(tenant)
    except UnauthenticatedError as error:
        raise NotFoundError("tenant_not_found", tenant=tenant) from error


def reached_known(
    principal: Principal, tenant: str, directory: TenantDirectory, *, changes: bool
) -> TenantId:
    """Return the tenant as `reached`, if it is there; what `changes` it comes before its end.

    A caller's own is there though nobody could note it yet.

    Raises:
        NotFoundError: `tenant_not_found`.
        ConflictError: `tenant_going`.

    """
    named = reached(principal, tenant)
    found = directory.tenant(named)
    if found is None and named != principal.tenant:
        raise NotFoundError("tenant_not_found", tenant=tenant)
    if found is not None and found.is_going and changes:
        raise ConflictError("tenant_going", tenant=tenant)
    return named


def user_named(user: str) -> UserId:
    """Return a user's id, seen here or not.

    Raises:
        NotFoundError: `user_not_found`: it has not the form of an id.

    """
    try:
        return user_id(user)
    except UnauthenticatedError as error:
        raise NotFoundError("user_not_found", user=user) from error
