"""From what a tenant configured to where a connection goes; the only place that opens secrets."""

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.federation import McpServer, McpTarget, McpTransport, parameter_field
from archivolt.domain.identity import TenantId
from archivolt.federation.catalogue import entry_of
from archivolt.ports.governance import SecretBox


def require_reachable(server: McpServer, *, programs: bool) -> None:
    """Check that a server says how it is reached, in a way that works here (decision 25).

    Raises:
        InvalidRequestError: `mcp_stdio_unavailable`: programs are not run in this deployment;
            `mcp_parameter_missing`: its command, its address or a parameter.

    """
    entry = entry_of(server.id)
    if not server.works(programs=programs):
        raise InvalidRequestError("mcp_stdio_unavailable", server=server.id)
    if server.transport is McpTransport.STDIO:
        if not (server.command or entry.command):
            raise InvalidRequestError("mcp_parameter_missing", server=server.id, name="command")
        needed = [parameter.name for parameter in entry.parameters if parameter.required]
    else:
        needed = []
        if not (server.url or entry.url):
            raise InvalidRequestError("mcp_parameter_missing", server=server.id, name="url")
    for name in needed:
        if not (server.plain.get(name) or server.sealed.get(name)):
            raise InvalidRequestError("mcp_parameter_missing", server=server.id, name=name)


def target_of(server: McpServer, tenant: TenantId, secrets: SecretBox) -> McpTarget:
    """Return where a connection to a server goes.

    Raises:
        UnavailableError: `secret_unreadable`.

    """
    entry = entry_of(server.id)
    opened = {
        name: secrets.open(sealed, tenant=tenant, field=parameter_field(server.id, name))
        for name, sealed in server.sealed.items()
    }
    own = bool(server.command)
    return McpTarget(
        server=server.id,
        transport=server.transport,
        command=server.command or entry.command,
        arguments=server.arguments if own or server.arguments else entry.arguments,
        url=server.url or entry.url,
        values={**server.plain, **opened},
    )
