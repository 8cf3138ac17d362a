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
    from archivolt.federation.access import McpAccess, SignInPages
    from archivolt.federation.accounts import McpAccounts
    from archivolt.federation.calls import McpCalls
    from archivolt.federation.renewal import TokenRenewal
    from archivolt.federation.servers import McpServers
    from archivolt.ports.federation import ArgumentSchemas, McpServerStore
    from archivolt.ports.governance import SecretBox
    from archivolt.ports.mcp_accounts import AuthorizationServers, McpAccountStore


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
    def accounts(self) -> "McpAccounts":
        """People's own accounts at them."""
        from archivolt.federation.accounts import AccountSupport, McpAccounts
        from archivolt.federation.our_clients import OurClients

        kept, clock = self.account_store, self._on.clock
        authorization = lambda: self._authorization  # noqa: E731  made with the first sign-in
        return McpAccounts(
            AccountSupport(
                servers=self.store,
                accounts=kept,
                secrets=self._secrets,
                authorization=authorization,
                renewal=self._renewal,
                clients=OurClients(kept, self._secrets, authorization, self._pages, clock),
                pages=self._pages,
                clock=clock,
                ask=self._calls.ask,
            )
        )

    @cached_property
    def account_store(self) -> "McpAccountStore":
        """What people connected."""
        from archivolt.adapters.dynamodb.mcp_accounts import DynamoMcpAccounts

        return DynamoMcpAccounts(self._on.table("control_table"))

    @cached_property
    def _access(self) -> "McpAccess":
        from archivolt.federation.access import McpAccess

        return McpAccess(
            lambda: self.account_store, self._secrets, self._renewal, self._on.clock, self._pages
        )

    @cached_property
    def _renewal(self) -> "TokenRenewal":
        import time

        from archivolt.federation.renewal import TokenRenewal

        return TokenRenewal(
            lambda: self.account_store,
            self._secrets,
            lambda: self._authorization,
            self._on.clock,
            time.sleep,
        )

    @cached_property
    def _pages(self) -> "SignInPages":
        from archivolt.federation.access import SignInPages

        settings = self._on.settings
        return SignInPages(settings.public_url if settings.signs_in else "")

    @cached_property
    def _authorization(self) -> "AuthorizationServers":
        from archivolt.adapters.http.addresses import OutboundRules
        from archivolt.adapters.oauth_client.calls import OAuthCalls
        from archivolt.adapters.oauth_client.servers import HttpAuthorizationServers

        rules = OutboundRules.from_setting(self._on.settings.outbound_allowed_hosts)
        return HttpAuthorizationServers(OAuthCalls(rules))

    def _secrets(self) -> "SecretBox":
        return self._on.secret_box

    @cached_property
    def _calls(self) -> "McpCalls":
        from archivolt.federation.calls import McpCalls

        return McpCalls(
            self.store,
            self._access,
            lambda: self.client,
            self._on.clock,
            programs=self._on.settings.archivolt_mcp_stdio,
        )

    @cached_property
    def outside(self) -> "Outside":
        """What a turn of the chat is offered of them."""
        from archivolt.chat.outside import Outside

        return Outside(self._calls, _argument_schemas, _in_background)

    @cached_property
    def servers(self) -> "McpServers":
        """What an administrator may do with them."""
        from archivolt.federation.servers import McpServers

        return McpServers(
            self.store,
            self._secrets,
            self._access,
            lambda: self.account_store,
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
