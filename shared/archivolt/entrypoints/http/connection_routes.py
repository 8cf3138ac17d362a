"""The programs that people let in by signing in, shown to those people and to administrators."""

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from archivolt.domain.identity import Principal
from archivolt.domain.oauth import OAuthGrant
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import RestServices, ServicesOf


class Connection(BaseModel):
    """A program that somebody let in; never its tokens."""

    id: str
    program: str = Field(description="The name it gave itself.")
    client_id: str = Field(description="An address where the program is described, or our own id.")
    user: str
    read_only: bool
    vaults: list[str] | None = Field(
        description="Names of those that you reach too; null for all vaults of its user."
    )
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, grant: OAuthGrant, names: dict[str, str]) -> Self:
        """Return what may be shown; `names` are those of vaults, by id."""
        vaults = grant.reach.vaults
        known = None if vaults is None else sorted(names[each] for each in vaults & names.keys())
        return cls(
            id=grant.id,
            program=grant.client_name,
            client_id=grant.client_id,
            user=grant.person.user,
            read_only=grant.reach.read_only,
            vaults=known,
            created_at=grant.created_at,
            expires_at=grant.expires_at,
        )


class ConnectionList(BaseModel):
    """Programs, by user, the newest first."""

    connections: list[Connection]


def connection_router(services: ServicesOf) -> APIRouter:
    """Return the routes of connected programs."""
    router = APIRouter(tags=["tokens"])

    @router.get(
        "/connections", summary="List programs that were let in", operation_id="list_connections"
    )
    def list_connections(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal,
        everybody: Annotated[
            bool, Query(description="Those of the whole tenant, for its administrators.")
        ] = False,
    ) -> ConnectionList:
        """Your own, the newest first."""
        with services().by_hand.doing(principal, "list_connections", everybody=everybody):
            kept = services().connections
            found = kept.of_tenant(principal) if everybody else kept.own(principal)
            names = _names(services(), principal)
        return ConnectionList(connections=[Connection.of(grant, names) for grant in found])

    @router.delete(
        "/connections/{connection_id}",
        status_code=204,
        summary="End a program's access",
        operation_id="end_connection",
    )
    def end_connection(principal: InteractivePrincipal, connection_id: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """It ends at once; an administrator may end those of the tenant's users."""
        with services().by_hand.doing(principal, "end_connection", connection=connection_id):
            services().connections.end(principal, connection_id)
        return Response(status_code=204)

    return router


def _names(services: RestServices, principal: Principal) -> dict[str, str]:
    found = services.vaults.accessible(principal)
    return {access.vault.ref.id: access.vault.name for access in found}
