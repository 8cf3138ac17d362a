"""From what a tenant configured to where a connection goes; the only place that opens secrets."""

import hashlib
from dataclasses import replace
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.federation import McpServer, McpTarget, McpTransport, parameter_field
from archivolt.domain.identity import TenantId
from archivolt.federation.catalogue import entry_of
from archivolt.ports.governance import SecretBox

_PLACE_CHARS: Final = 16


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


def address_of(server: McpServer) -> str:
    """Return the address of a server over HTTP, "" for one that has none."""
    return (server.url or entry_of(server.id).url) if server.transport is McpTransport.HTTP else ""


def place_of(server: McpServer) -> str:
    """Return what tells the address of a server from any other; it is part of addresses of ours."""
    return hashlib.sha256(address_of(server).encode()).hexdigest()[:_PLACE_CHARS]


def with_token(target: McpTarget, token: str, account: str) -> McpTarget:
    """Return where a connection with a person's own account goes, in place of a key of all."""
    others = {n: v for n, v in target.values.items() if n.lower() != "authorization"}
    values = {**others, "Authorization": f"Bearer {token}"}
    return replace(target, values=values, account=account)


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
