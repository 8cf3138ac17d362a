"""MCP servers of others: what is kept of them, what speaks to them, what an administrator may do.

The SDK is imported with the first connection, never before the first word of an answer.
"""

import threading
from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.adapters.mcp.client import SdkMcpClient
    from archivolt.bootstrap import Container
    from archivolt.chat.outside import Outside
    from archivolt.federation.servers import McpServers
    from archivolt.ports.federation import ArgumentSchemas, McpServerStore


class FederationContainer:
    """Builds and keeps the collaborators of federation."""

    def __init__(self, container: "Container") -> None:
        self._on = container
        self._making = threading.Lock()

    @cached_property
    def store(self) -> "McpServerStore":
        """What tenants configured."""
        from archivolt.adapters.dynamodb.mcp_servers import DynamoMcpServers

        return DynamoMcpServers(self._on.table("control_table"))

    @property
    def client(self) -> "SdkMcpClient":
        """What speaks to servers: one, whichever of the calls side by side needs it first."""
        with self._making:
            return self._client

    @cached_property
    def _client(self) -> "SdkMcpClient":
        from archivolt.adapters.http.addresses import OutboundRules
        from archivolt.adapters.mcp.client import SdkMcpClient
        from archivolt.adapters.mcp.transports import Transports

        settings = self._on.settings
        transports = Transports(
            OutboundRules.from_setting(settings.outbound_allowed_hosts),
            OutboundRules.from_setting(settings.archivolt_fetch_allowed_hosts),
            programs=settings.archivolt_mcp_stdio,
        )
        return SdkMcpClient(transports, self._on.clock)

    @cached_property
    def outside(self) -> "Outside":
        """What a turn of the chat is offered of them."""
        from archivolt.chat.outside import Outside
        from archivolt.federation.calls import McpCalls

        calls = McpCalls(
            self.store,
            lambda: self._on.secret_box,
            lambda: self.client,
            self._on.clock,
            programs=self._on.settings.archivolt_mcp_stdio,
        )
        return Outside(calls, _argument_schemas, _in_background)

    @cached_property
    def servers(self) -> "McpServers":
        """What an administrator may do with them."""
        from archivolt.federation.servers import McpServers

        return McpServers(
            self.store,
            lambda: self._on.secret_box,
            lambda: self.client,
            self._on.clock,
            programs=self._on.settings.archivolt_mcp_stdio,
        )


@cache
def _argument_schemas() -> "ArgumentSchemas":
    from archivolt.adapters.json_schema.arguments import JsonSchemaArguments

    return JsonSchemaArguments()


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="asking-mcp-server", daemon=True).start()
