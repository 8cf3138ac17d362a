"""A person's own accounts at MCP servers of others."""

from datetime import datetime
from typing import Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from archivolt.domain.mcp_accounts import McpAccountState
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.federation.standings import SignInPlace, Standing


class McpAccountBody(BaseModel):
    """How the caller stands with a server; of its tokens nothing is told."""

    server: str
    state: McpAccountState
    page: str = Field(
        description='Where the caller connects it in a browser; "" where nobody can sign in.'
    )
    issuer: str | None = Field(description="Who let them in.")
    scope: str | None = Field(description="How far.")
    lacks_scope: str | None = Field(description="What the server asked for beyond that.")
    connected_at: datetime | None
    expires_at: datetime | None = Field(
        description="Until when its token is good; before that it is renewed, where it can be."
    )

    @classmethod
    def of(cls, standing: Standing) -> Self:
        """Return how somebody stands as JSON."""
        account = standing.account
        return cls(
            server=standing.server.id,
            state=standing.state,
            page=standing.page,
            issuer=account.issuer if account else None,
            scope=account.scope if account else None,
            lacks_scope=(account.wanted or None) if account else None,
            connected_at=account.connected_at if account else None,
            expires_at=account.expires_at if account else None,
        )


class McpSignInBody(BaseModel):
    """Where the caller signs in; the browser comes back to a page of ours."""

    authorization_url: str
    expires_at: datetime = Field(description="When they have to be back.")

    @classmethod
    def of(cls, place: SignInPlace) -> Self:
        """Return a place as JSON."""
        return cls(authorization_url=place.address, expires_at=place.expires_at)


def mcp_account_router(services: ServicesOf) -> APIRouter:
    """Return the routes of a person's accounts at MCP servers of others."""
    router = APIRouter(tags=["mcp-servers"])

    @router.get(
        "/mcp/{server_id}/connection",
        summary="Tell whether your account at an MCP server is connected",
        operation_id="show_mcp_account",
    )
    def show(principal: InteractivePrincipal, server_id: str) -> McpAccountBody:  # pyright: ignore[reportUnusedFunction]
        """Of your own account, and nobody else's."""
        with services().by_hand.doing(principal, "show_mcp_account", server=server_id):
            return McpAccountBody.of(services().mcp_accounts().standing(principal, server_id))

    @router.post(
        "/mcp/{server_id}/connection",
        summary="Begin to connect your account at an MCP server",
        operation_id="connect_mcp_account",
    )
    def connect(principal: InteractivePrincipal, server_id: str) -> McpSignInBody:  # pyright: ignore[reportUnusedFunction]
        """Open `authorization_url` in a browser in which you are signed in here."""
        with services().by_hand.doing(principal, "connect_mcp_account", server=server_id):
            return McpSignInBody.of(services().mcp_accounts().begin(principal, server_id))

    @router.delete(
        "/mcp/{server_id}/connection",
        status_code=204,
        summary="Disconnect your account at an MCP server",
        operation_id="disconnect_mcp_account",
    )
    def disconnect(principal: InteractivePrincipal, server_id: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Its tokens are forgotten here, and ended there where the server has a way to."""
        with services().by_hand.doing(principal, "disconnect_mcp_account", server=server_id):
            services().mcp_accounts().end(principal, server_id)
        return Response(status_code=204)

    return router
