"""The MCP servers of others that a tenant uses (L14)."""

from fastapi import APIRouter, Request, Response

from archivolt.domain.federation import McpServer
from archivolt.domain.identity import Principal, Role
from archivolt.domain.mcp_accounts import McpAccountState
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.federation_bodies import (
    McpServerBody,
    McpServerList,
    McpTrialBody,
    server_body,
)
from archivolt.entrypoints.http.services import RestServices, ServicesOf
from archivolt.federation.changes import McpChange


def federation_router(services: ServicesOf) -> APIRouter:
    """Return the routes of MCP servers of others."""
    router = APIRouter(tags=["mcp-servers"])
    _add_looking(router, services)
    _add_changing(router, services)
    return router


def _add_looking(router: APIRouter, services: ServicesOf) -> None:
    @router.get("/mcp", summary="List the MCP servers of others", operation_id="list_mcp_servers")
    def list_servers(request: Request, principal: InteractivePrincipal) -> McpServerList:  # pyright: ignore[reportUnusedFunction]
        """The catalogue, everything off until an administrator turns it on; then your own."""
        with services().by_hand.doing(principal, "list_mcp_servers"):
            servers = services().mcp_servers.all(principal)
            states = services().mcp_accounts().states(principal, servers)
        return McpServerList(
            servers=[
                _shown(services(), principal, request, each, states.get(each.id))
                for each in servers
            ]
        )

    @router.post(
        "/mcp/{server_id}/test",
        summary="Connect to an MCP server once and list its tools",
        operation_id="test_mcp_server",
    )
    def test_server(principal: InteractivePrincipal, server_id: str) -> McpTrialBody:  # pyright: ignore[reportUnusedFunction]
        """For administrators of the tenant; it may be turned off."""
        with services().by_hand.doing(principal, "test_mcp_server", server=server_id):
            return McpTrialBody.of(server_id, services().mcp_servers.test(principal, server_id))


def _add_changing(router: APIRouter, services: ServicesOf) -> None:
    @router.put(
        "/mcp/{server_id}",
        summary="Turn an MCP server on or off, or configure it",
        operation_id="change_mcp_server",
    )
    def change_server(  # pyright: ignore[reportUnusedFunction]
        request: Request, principal: InteractivePrincipal, server_id: str, change: McpChange
    ) -> McpServerBody:
        """For administrators of the tenant. An id that is not the catalogue's is a server of yours.

        One that is turned on is asked for its tools at once; `problem` says if it does not answer.
        """
        # The names only: not even a digest of a secret is kept.
        names = sorted(change.model_fields_set)
        with services().by_hand.doing(
            principal, "change_mcp_server", server=server_id, names=names
        ):
            server = services().mcp_servers.change(principal, server_id, change)
            states = services().mcp_accounts().states(principal, [server])
        return _shown(services(), principal, request, server, states.get(server.id))

    @router.delete(
        "/mcp/{server_id}",
        status_code=204,
        summary="Forget an MCP server and its secrets",
        operation_id="delete_mcp_server",
    )
    def delete_server(principal: InteractivePrincipal, server_id: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """For administrators of the tenant; one of the catalogue is off again, as it came."""
        with services().by_hand.doing(principal, "delete_mcp_server", server=server_id):
            services().mcp_servers.remove(principal, server_id)
        return Response(status_code=204)


def _shown(
    services: RestServices,
    principal: Principal,
    request: Request,
    server: McpServer,
    account: McpAccountState | None,
) -> McpServerBody:
    return server_body(
        server,
        language_for(request),
        programs=services.mcp_servers.programs,
        whole=principal.role.includes(Role.TENANT_ADMIN),
        redirect_uri=services.mcp_accounts().callback(server),
        account=account,
    )
