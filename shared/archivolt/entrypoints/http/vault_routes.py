"""Vaults: creating them and sharing them."""

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from archivolt.domain.vault import VaultRole
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.tools.catalogue.navigation import VaultInList


class NewVault(BaseModel):
    """The body of `POST /vaults`."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="1 to 64 characters without slashes.")


class VaultSettings(BaseModel):
    """The body of `PATCH /vaults/{vault}`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    aiDestructiveTools: bool = Field(  # noqa: N815  the contract's name
        description="Whether agents may rename, move, replace and delete."
    )


class NewRole(BaseModel):
    """The body of `PUT /vaults/{vault}/members/{user}`."""

    model_config = ConfigDict(extra="forbid")

    role: VaultRole


class Member(BaseModel):
    """Somebody's role in a vault."""

    vault: str
    user: str
    role: VaultRole


class Members(BaseModel):
    """Who shares a vault."""

    members: list[Member]


def vault_router(services: ServicesOf) -> APIRouter:
    """Return the routes of vaults and members."""
    router = APIRouter(tags=["vaults"])
    _add_vaults(router, services)
    _add_members(router, services)
    return router


def _add_vaults(router: APIRouter, services: ServicesOf) -> None:
    @router.post("/vaults", status_code=201, summary="Create a vault", operation_id="create_vault")
    def create_vault(principal: InteractivePrincipal, body: NewVault) -> VaultInList:  # pyright: ignore[reportUnusedFunction]
        """It is empty, and you are its owner."""
        with services().by_hand.doing(principal, "create_vault", vault=body.name):
            return VaultInList.of(services().vaults.create(principal, body.name))

    @router.patch(
        "/vaults/{vault}", summary="Change a vault's settings", operation_id="change_vault"
    )
    def change_vault(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, vault: str, body: VaultSettings
    ) -> VaultInList:
        """Only an owner may."""
        allowed = body.aiDestructiveTools
        with services().by_hand.doing(principal, "change_vault", vault=vault, allowed=allowed):
            changed = services().vaults.allow_destructive_tools(principal, vault, allowed=allowed)
        return VaultInList.of(changed)


def _add_members(router: APIRouter, services: ServicesOf) -> None:
    @router.get("/vaults/{vault}/members", summary="List the members", operation_id="list_members")
    def list_members(principal: InteractivePrincipal, vault: str) -> Members:  # pyright: ignore[reportUnusedFunction]
        """Owners come first. Every member may see them."""
        with services().by_hand.doing(principal, "list_members", vault=vault):
            found = services().vaults.members(principal, vault)
        return Members(members=[Member(vault=vault, user=user, role=role) for user, role in found])

    @router.put(
        "/vaults/{vault}/members/{user}",
        summary="Add a member, or change a role",
        operation_id="set_member",
    )
    def set_member(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, vault: str, user: str, body: NewRole
    ) -> Member:
        """Only an owner may; the last owner stays one."""
        with services().by_hand.doing(
            principal, "set_member", vault=vault, user=user, role=body.role
        ):
            member = services().vaults.set_member(principal, vault, user, body.role)
        return Member(vault=vault, user=member, role=body.role)

    @router.delete(
        "/vaults/{vault}/members/{user}",
        status_code=204,
        summary="Remove a member",
        operation_id="remove_member",
    )
    def remove_member(principal: InteractivePrincipal, vault: str, user: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Only an owner may; the last owner stays."""
        with services().by_hand.doing(principal, "remove_member", vault=vault, user=user):
            services().vaults.remove_member(principal, vault, user)
        return Response(status_code=204)
