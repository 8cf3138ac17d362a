"""MCP servers of others: where a tenant's choice is kept, and how servers are spoken to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from archivolt.domain.federation import McpAnswers, McpResult, McpServer, McpTarget, McpTool
from archivolt.domain.identity import TenantId
from archivolt.domain.tool import JsonObject


class McpServerStore(Protocol):
    """Keeps the servers that tenants configured. Passes `tests/contract`.

    All may raise `UnavailableError`.
    """

    def of_tenant(self, tenant: TenantId) -> list[McpServer]:
        """Return a tenant's servers by their ids."""
        ...

    def save(self, tenant: TenantId, server: McpServer) -> None:
        """Keep a server; one of the same id is replaced."""
        ...

    def note(self, tenant: TenantId, server: McpServer) -> bool:
        """Keep what was learnt of a server: its tools, its problem; False if it changed meanwhile.

        It changed if it is gone, is turned off, or is reached in another way.
        """
        ...

    def delete(self, tenant: TenantId, server_id: str) -> bool:
        """Remove a server; False if there was none."""
        ...


ListCheck = Callable[[Sequence[McpTool]], None]
"""Is given what a server lists when a connection is made; raises to refuse it."""


class McpClient(Protocol):
    """Speaks to MCP servers of others, from any thread.

    All is over in the target's seconds. Failures are `UnavailableError`: `mcp_server_unavailable`
    with a reason where no call was made; `mcp_call_timeout`, and `mcp_call_cut` where it may have
    been. A server that asks for the person's own account is a `AccountNeededError`, and no call was
    made.
    """

    def tools(self, target: McpTarget) -> list[McpTool]:
        """Connect, return what is listed, and leave nothing behind.

        Raises:
            UnavailableError: `mcp_server_unavailable`.

        """
        ...

    def call(
        self,
        target: McpTarget,
        key: str,
        tool: str,
        arguments: JsonObject,
        *,
        check: ListCheck,
        repeatable: bool = False,
        answers: McpAnswers | None = None,
    ) -> McpResult:
        """Call a tool over the connection of a key, which is made if there is none.

        A `repeatable` call that is cut off is made once more (S35). `answers` are to what an
        earlier call of the same asked.

        Raises:
            UnavailableError: See above.
            ArchivoltError: What `check` raises of a new connection, or of a list that changed.

        """
        ...

    def forget(self, key_prefix: str, *, but: Sequence[str]) -> None:
        """Close the connections of these keys that are not among `but`, soon."""
        ...

    def close(self) -> None:
        """Close all of them, and wait for it: no program is left behind."""
        ...


class ArgumentSchemas(Protocol):
    """Holds arguments to a JSON Schema that a stranger wrote."""

    def read(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> JsonObject:
        """Return arguments as the schema takes them, numbers and lists that came as text read.

        Raises:
            InvalidRequestError: `invalid_arguments`.

        """
        ...
