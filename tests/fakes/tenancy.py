"""Tenants and the people seen in them, without any service."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.tenancy import GOING, Standing, Tenant, TenantState, TenantUser, UserState
from archivolt.ports.chat_model import ProviderConnection
from archivolt.ports.provider_keys import KeyTrial, KeyVerdict


class InMemoryTenants:
    """A `TenantDirectory` that lives as long as the test; `reads` counts looks at a caller."""

    def __init__(self) -> None:
        self._tenants: dict[TenantId, Tenant] = {}
        self._people: dict[tuple[TenantId, UserId], TenantUser] = {}
        self.reads = 0

    def standing(self, tenant: TenantId, user: UserId) -> Standing:
        self.reads += 1
        return Standing(tenant=self.tenant(tenant), user=self.user(tenant, user))

    def note(self, seen: TenantUser, *, known: Standing) -> None:
        if known.tenant is None:
            before = self._tenants.get(seen.tenant, Tenant(id=seen.tenant))
            self._tenants[seen.tenant] = replace(before, first_seen=seen.first_seen)
        before_user = self.user(seen.tenant, seen.id)
        state = before_user.state if before_user else UserState.ACTIVE
        first = seen.first_seen if known.user is None else known.user.first_seen
        self._people[seen.tenant, seen.id] = replace(seen, state=state, first_seen=first)

    def add(self, tenant: Tenant) -> None:
        if tenant.id in self._tenants:
            raise ConflictError("tenant_exists", tenant=tenant.id)
        self._tenants[tenant.id] = tenant

    def tenant(self, tenant: TenantId) -> Tenant | None:
        return self._tenants.get(tenant)

    def tenants(self, *, limit: int, after: str = "") -> Sequence[Tenant]:
        ids = sorted(tenant for tenant in self._tenants if tenant > after)
        return [self._tenants[tenant] for tenant in ids[:limit]]

    def change(self, tenant: TenantId, *, name: str | None, calls: int | None) -> Tenant:
        before = self._known(tenant)
        if before.is_going:
            raise ConflictError("tenant_going", tenant=tenant)
        self._tenants[tenant] = replace(
            before,
            name=before.name if name is None else name,
            calls_per_window=before.calls_per_window if calls is None else calls,
        )
        return self._tenants[tenant]

    def set_state(self, tenant: TenantId, state: TenantState, at: datetime) -> Tenant:
        before = self._known(tenant)
        gone = before.state is TenantState.DELETED and state is not TenantState.DELETED
        if gone or (before.is_going and state not in GOING):
            raise ConflictError("tenant_going", tenant=tenant)
        if state is TenantState.DELETED:
            before = Tenant(id=tenant, first_seen=before.first_seen)
        self._tenants[tenant] = replace(before, state=state, changed_at=at)
        return self._tenants[tenant]

    def users(self, tenant: TenantId, *, limit: int, after: str = "") -> Sequence[TenantUser]:
        ids = sorted(user for of, user in self._people if of == tenant and user > after)
        return [self._people[tenant, user] for user in ids[:limit]]

    def user(self, tenant: TenantId, user: UserId) -> TenantUser | None:
        return self._people.get((tenant, user))

    def set_user_state(self, tenant: TenantId, user: UserId, state: UserState) -> TenantUser:
        before = self.user(tenant, user)
        if before is None:
            raise NotFoundError("user_not_found", user=user)
        if before.state is UserState.DELETING:
            raise ConflictError("user_going", user=user)
        self._people[tenant, user] = replace(before, state=state)
        return self._people[tenant, user]

    def shut_out(self, tenant: TenantId, user: UserId) -> None:
        before = self.user(tenant, user) or TenantUser(tenant=tenant, id=user)
        self._people[tenant, user] = replace(before, state=UserState.DELETING)

    def forget_user(self, tenant: TenantId, user: UserId) -> None:
        self._people.pop((tenant, user), None)

    def _known(self, tenant: TenantId) -> Tenant:
        if tenant not in self._tenants:
            raise NotFoundError("tenant_not_found", tenant=tenant)
        return self._tenants[tenant]


class ScriptedKeyCheck:
    """A `ProviderKeyCheck` that says what the test wants, and keeps what it was asked."""

    def __init__(self) -> None:
        self.trial = KeyTrial(verdict=KeyVerdict.ACCEPTED, status=200)
        self.asked: list[ProviderConnection] = []

    def check(self, connection: ProviderConnection) -> KeyTrial:
        self.asked.append(connection)
        return self.trial
