"""The values that a server is given: shown where the catalogue says so, else sealed (L3)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.federation import (
    McpClientSettings,
    McpServer,
    McpTransport,
    parameter_field,
)
from archivolt.domain.federation_limits import (
    MAX_MCP_PARAMETERS,
)
from archivolt.domain.identity import TenantId
from archivolt.domain.mcp_accounts import client_field
from archivolt.federation.catalogue import entry_of
from archivolt.federation.changes import McpChange, McpClientChange
from archivolt.governance.provider_keys import fingerprint, is_fingerprint
from archivolt.ports.governance import SecretBox

# What the transport itself writes.
_HEADERS_OF_HTTP: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "host"),
        *("last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    }
)


def with_secrets(
    server: McpServer,
    change: McpChange,
    *,
    tenant: TenantId,
    secrets: Callable[[], SecretBox],
) -> McpServer:
    """Return a server with the values that a change names, and as whom people are let in to it.

    Raises:
        InvalidRequestError: `mcp_parameter_unusable`.

    """
    if "parameters" in change.model_fields_set:
        server = _with_parameters(server, change.parameters, tenant=tenant, secrets=secrets())
    if "oauth" in change.model_fields_set:
        server = _with_client(server, change.oauth, tenant=tenant, secrets=secrets)
    return server


def _with_client(
    server: McpServer,
    given: McpClientChange | None,
    *,
    tenant: TenantId,
    secrets: Callable[[], SecretBox],
) -> McpServer:
    if given is None:
        return replace(server, oauth=McpClientSettings())
    oauth = replace(server.oauth, id=given.client_id or "", scope=given.scope or "")
    secret = given.client_secret.get_secret_value() if given.client_secret else ""
    if oauth.id != server.oauth.id or not is_fingerprint(secret):
        # The secret of one client is none of another.
        kept = "" if is_fingerprint(secret) else secret
        field = client_field(server.id)
        sealed = secrets().seal(kept, tenant=tenant, field=field) if kept else ""
        oauth = replace(oauth, sealed=sealed, fingerprint=fingerprint(kept))
    return replace(server, oauth=oauth)


def _with_parameters(
    server: McpServer,
    given: Mapping[str, SecretStr | None] | None,
    *,
    tenant: TenantId,
    secrets: SecretBox,
) -> McpServer:
    """Return a server with these values; None or "" takes one back, None for all takes back all.

    Raises:
        InvalidRequestError: `mcp_parameter_unusable`: too many, or a header that is not to be set.

    """
    shown = {each.name for each in entry_of(server.id).parameters if not each.secret}
    plain = dict(server.plain) if given is not None else {}
    sealed = dict(server.sealed) if given is not None else {}
    fingerprints = dict(server.fingerprints) if given is not None else {}
    for name, secret in (given or {}).items():
        value = secret.get_secret_value() if secret else ""
        if is_fingerprint(value):
            continue
        for kept in (plain, sealed, fingerprints):
            kept.pop(name, None)
        if value and name in shown:
            plain[name] = value
        elif value:
            field = parameter_field(server.id, name)
            sealed[name] = secrets.seal(value, tenant=tenant, field=field)
            fingerprints[name] = fingerprint(value)
    _require_usable(server, [*plain, *sealed])
    return replace(server, plain=plain, sealed=sealed, fingerprints=fingerprints)


def without_secrets(server: McpServer) -> McpServer:
    """Return a server that has forgotten what it was given in confidence."""
    return replace(server, sealed={}, fingerprints={}, oauth=McpClientSettings())


def leads_elsewhere(before: McpServer, after: McpServer) -> bool:
    """Tell whether a secret would go to somebody else than the one it was given for."""
    if before.transport is not after.transport:
        return True
    if after.transport is McpTransport.HTTP:
        return _origin(before) != _origin(after)
    return (before.command, before.arguments) != (after.command, after.arguments)


def _origin(server: McpServer) -> tuple[str, str | None, int | None]:
    parts = urlsplit(server.url or entry_of(server.id).url)
    return parts.scheme, parts.hostname, parts.port


def _require_usable(server: McpServer, names: list[str]) -> None:
    over_http = server.transport is McpTransport.HTTP
    for name in names:
        if over_http and name.lower() in _HEADERS_OF_HTTP:
            raise InvalidRequestError("mcp_parameter_unusable", server=server.id, name=name)
    if len(names) > MAX_MCP_PARAMETERS:
        name = names[MAX_MCP_PARAMETERS]
        raise InvalidRequestError("mcp_parameter_unusable", server=server.id, name=name)
