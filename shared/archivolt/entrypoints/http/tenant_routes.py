"""Tenants, for those who run the deployment, and a tenant's people, for its administrators."""

from datetime import date, datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from archivolt.domain.display import on_one_line
from archivolt.domain.identity import Role
from archivolt.domain.tenancy import Tenant, TenantState, TenantUser, UserState
from archivolt.domain.tenancy_limits import (
    DEFAULT_TENANTS,
    MAX_TENANT_CALLS,
    MAX_TENANT_NAME_CHARS,
    MAX_TENANTS,
)
from archivolt.domain.vault import VaultAccess, VaultRole
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.governance.tenants import NewTenant


def _readable(name: object) -> object:
    return on_one_line(name) if isinstance(name, str) else name


_Name = Annotated[
    str,
    BeforeValidator(_readable),
    Field(max_length=MAX_TENANT_NAME_CHARS, description="What people call it."),
]
_Calls = Annotated[
    int,
    Field(
        ge=0,
        le=MAX_TENANT_CALLS,
        description="How many calls its people may make in a window, all together; 0: as many as"
        " the deployment lets every tenant.",
    ),
]


class TenantToMake(BaseModel):
    """A tenant to make."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(description="As the tokens of the identity provider name it.")
    name: _Name = ""
    calls_per_window: _Calls = 0


class TenantChange(BaseModel):
    """What to change of a tenant; what is absent or null stays."""

    model_config = ConfigDict(extra="forbid")

    name: _Name | None = None
    calls_per_window: _Calls | None = None


class TenantBody(BaseModel):
    """A tenant as it is shown."""

    id: str
    name: str
    state: TenantState
    first_seen: datetime | None = Field(description="When it was made, or first heard of.")
    changed_at: datetime | None = Field(description="Since when its state is this; null: always.")
    calls_per_window: int

    @classmethod
    def of(cls, tenant: Tenant) -> Self:
        """Return a tenant as it is shown."""
        return cls(
            id=tenant.id,
            name=tenant.name,
            state=tenant.state,
            first_seen=tenant.first_seen,
            changed_at=tenant.changed_at,
            calls_per_window=tenant.calls_per_window,
        )


class TenantList(BaseModel):
    """Some tenants, by their ids."""

    tenants: list[TenantBody]
    next: str | None = Field(description="Give it as `after` for those that follow; null: none.")


class MembershipBody(BaseModel):
    """A vault that somebody is a member of."""

    vault: str
    role: VaultRole

    @classmethod
    def of(cls, access: VaultAccess) -> Self:
        """Return a membership as it is shown."""
        return cls(vault=access.vault.name, role=access.role)


class UserBody(BaseModel):
    """Somebody as they were seen."""

    user: str
    role: Role = Field(description="That of their last own sign-in.")
    state: UserState
    first_seen: datetime | None
    last_seen: date | None = Field(description="The day of their last request.")

    @classmethod
    def of(cls, user: TenantUser) -> Self:
        """Return somebody as they are shown."""
        return cls(
            user=user.id,
            role=user.role,
            state=user.state,
            first_seen=user.first_seen,
            last_seen=user.last_seen,
        )


class UserWithVaults(UserBody):
    """Somebody, and the vaults they are members of."""

    vaults: list[MembershipBody] | None = Field(
        description="null for who is no administrator of this very tenant."
    )


class UserList(BaseModel):
    """Some people, by their ids."""

    users: list[UserBody]
    next: str | None = Field(description="Give it as `after` for those that follow; null: none.")


class Paging(BaseModel):
    """The query of a list by ids."""

    limit: int = Field(default=DEFAULT_TENANTS, ge=1, le=MAX_TENANTS)
    after: str = Field(default="", max_length=128, description="`next` of the page before.")


def tenant_router(services: ServicesOf) -> APIRouter:
    """Return the routes of tenants and their people."""
    router = APIRouter(tags=["tenants"])
    _add_tenants(router, services)
    _add_one(router, services)
    _add_states(router, services)
    _add_users(router, services)
    _add_user_states(router, services)
    return router


def _add_tenants(router: APIRouter, services: ServicesOf) -> None:
    @router.get("/tenants", summary="List the tenants", operation_id="list_tenants")
    def list_tenants(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, query: Annotated[Paging, Query()]
    ) -> TenantList:
        """Those made here, and those of which somebody came."""
        with services().by_hand.doing(principal, "list_tenants"):
            found = services().tenants.all(limit=query.limit, after=query.after)
        tenants = [TenantBody.of(tenant) for tenant in found]
        return TenantList(
            tenants=tenants, next=tenants[-1].id if len(tenants) == query.limit else None
        )

    @router.post("/tenants", status_code=201, summary="Make a tenant", operation_id="make_tenant")
    def make_tenant(principal: InteractivePrincipal, body: TenantToMake) -> TenantBody:  # pyright: ignore[reportUnusedFunction]
        """One that nobody makes is there from its first request on."""
        new = NewTenant(id=body.id, name=body.name, calls_per_window=body.calls_per_window)
        with services().by_hand.administering(principal, "make_tenant", tenant=body.id):
            return TenantBody.of(services().tenants.create(new))


def _add_one(router: APIRouter, services: ServicesOf) -> None:
    @router.get("/tenants/{tenant}", summary="See a tenant", operation_id="show_tenant")
    def show_tenant(principal: InteractivePrincipal, tenant: str) -> TenantBody:  # pyright: ignore[reportUnusedFunction]
        """Your own."""
        with services().by_hand.administering(
            principal, "show_tenant", changes=False, tenant=tenant
        ):
            return TenantBody.of(services().tenants.show(principal, tenant))

    @router.patch("/tenants/{tenant}", summary="Change a tenant", operation_id="change_tenant")
    def change_tenant(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, tenant: str, body: TenantChange
    ) -> TenantBody:
        """Its name, and how many calls its people may make; its settings are apart."""
        names = sorted(body.model_fields_set)
        with services().by_hand.administering(
            principal, "change_tenant", tenant=tenant, names=names
        ):
            changed = services().tenants.change(
                principal, tenant, name=body.name, calls=body.calls_per_window
            )
        return TenantBody.of(changed)


def _add_states(router: APIRouter, services: ServicesOf) -> None:
    @router.post(
        "/tenants/{tenant}/suspend", summary="Suspend a tenant", operation_id="suspend_tenant"
    )
    def suspend_tenant(principal: InteractivePrincipal, tenant: str) -> TenantBody:  # pyright: ignore[reportUnusedFunction]
        """Within five seconds nobody of it comes in by any door; its data stays."""
        with services().by_hand.administering(principal, "suspend_tenant", tenant=tenant):
            return TenantBody.of(services().tenants.suspend(principal, tenant))

    @router.post(
        "/tenants/{tenant}/resume", summary="Resume a tenant", operation_id="resume_tenant"
    )
    def resume_tenant(principal: InteractivePrincipal, tenant: str) -> TenantBody:  # pyright: ignore[reportUnusedFunction]
        """Its people come in again, with the tokens that they had."""
        with services().by_hand.administering(principal, "resume_tenant", tenant=tenant):
            return TenantBody.of(services().tenants.resume(principal, tenant))


def _add_users(router: APIRouter, services: ServicesOf) -> None:
    @router.get(
        "/tenants/{tenant}/users", summary="List a tenant's users", operation_id="list_users"
    )
    def list_users(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, tenant: str, query: Annotated[Paging, Query()]
    ) -> UserList:
        """Everybody who ever came; the identity provider keeps who may."""
        with services().by_hand.administering(
            principal, "list_users", changes=False, tenant=tenant
        ):
            found = services().tenants.users(
                principal, tenant, limit=query.limit, after=query.after
            )
        users = [UserBody.of(user) for user in found]
        return UserList(users=users, next=users[-1].user if len(users) == query.limit else None)

    @router.get("/tenants/{tenant}/users/{user}", summary="See a user", operation_id="show_user")
    def show_user(principal: InteractivePrincipal, tenant: str, user: str) -> UserWithVaults:  # pyright: ignore[reportUnusedFunction]
        """And the vaults they share, for administrators of the same tenant."""
        with services().by_hand.administering(
            principal, "show_user", changes=False, tenant=tenant, user=user
        ):
            found = services().tenants.user(principal, tenant, user)
            shared = services().tenants.memberships(principal, found)
        vaults = None if shared is None else [MembershipBody.of(access) for access in shared]
        return UserWithVaults(**UserBody.of(found).model_dump(), vaults=vaults)


def _add_user_states(router: APIRouter, services: ServicesOf) -> None:
    @router.post(
        "/tenants/{tenant}/users/{user}/suspend",
        summary="Suspend a user",
        operation_id="suspend_user",
    )
    def suspend_user(principal: InteractivePrincipal, tenant: str, user: str) -> UserBody:  # pyright: ignore[reportUnusedFunction]
        """Within five seconds they come in by no door; tokens of their programs end."""
        with services().by_hand.administering(principal, "suspend_user", tenant=tenant, user=user):
            return UserBody.of(services().tenants.suspend_user(principal, tenant, user))

    @router.post(
        "/tenants/{tenant}/users/{user}/resume", summary="Resume a user", operation_id="resume_user"
    )
    def resume_user(principal: InteractivePrincipal, tenant: str, user: str) -> UserBody:  # pyright: ignore[reportUnusedFunction]
        """They come in again; programs need new tokens."""
        with services().by_hand.administering(principal, "resume_user", tenant=tenant, user=user):
            return UserBody.of(services().tenants.resume_user(principal, tenant, user))
