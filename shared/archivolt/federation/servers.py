"""What an administrator may do with the MCP servers of others: turn on, configure, try (L14, S34).

A secret comes in and never goes out: it is kept sealed, and shown as a fingerprint. It goes where
it was given for: with another host or another command it is forgotten.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from archivolt.domain.errors import (
    ArchivoltError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.federation import McpServer, McpTool, McpTransport
from archivolt.domain.federation_limits import (
    MAX_MCP_ID_CHARS,
    MAX_MCP_SERVERS,
    MCP_WAIT_SECONDS,
)
from archivolt.domain.identity import Principal, Role, TenantId
from archivolt.federation.access import McpAccess
from archivolt.federation.catalogue import CATALOGUE, entry_of
from archivolt.federation.changes import McpChange, agreed, changed_plainly
from archivolt.federation.learning import failed, learnt
from archivolt.federation.parameters import leads_elsewhere, with_secrets, without_secrets
from archivolt.federation.targets import require_reachable
from archivolt.ports.clock import Clock
from archivolt.ports.federation import McpClient, McpServerStore
from archivolt.ports.governance import SecretBox
from archivolt.ports.mcp_accounts import McpAccountStore

_ID: Final = re.compile(rf"(?!-)[a-z0-9-]{{1,{MAX_MCP_ID_CHARS}}}(?<!-)")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTrial:
    """What a trial connection found; `agreed` says whether these are the tools agreed to."""

    tools: tuple[McpTool, ...]
    agreed: bool


class McpServers:
    """Shows and changes a tenant's servers.

    Args:
        store: Keeps them.
        secrets: Seals their values.
        access: Finds the way to them for a person.
        accounts: Keeps people's accounts at them.
        client: Speaks to them.
        clock: The time.
        programs: Whether servers that are programs of this machine may be used (decision 25).

    """

    def __init__(
        self,
        store: McpServerStore,
        secrets: Callable[[], SecretBox],
        access: McpAccess,
        accounts: Callable[[], McpAccountStore],
        client: Callable[[], McpClient],
        clock: Clock,
        *,
        programs: bool,
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._access = access
        self._accounts = accounts
        self._client = client
        self._clock = clock
        self.programs = programs

    def all(self, principal: Principal) -> list[McpServer]:
        """Return the catalogue's, as they are configured, and then the tenant's own."""
        kept = {server.id: server for server in self._store.of_tenant(principal.tenant)}
        known = [kept.pop(name, None) or self._new(name) for name in CATALOGUE]
        return [*known, *kept.values()]

    def change(self, principal: Principal, server_id: str, change: McpChange) -> McpServer:
        """Change what `change` names; turned on, a server is asked for its tools at once.

        One that does not answer is kept all the same, with its problem.

        Raises:
            ForbiddenError: `forbidden`: the caller is no administrator.
            NotFoundError: `mcp_server_not_found`: no id that a server can have.
            InvalidRequestError: `mcp_parameter_missing`, `mcp_stdio_unavailable`,
                `mcp_servers_too_many`.
            ConflictError: `mcp_tools_changed`: what was agreed to is not what it lists.

        """
        tenant = _administered(principal)
        current = self._found_or_new(tenant, server_id)
        changed = changed_plainly(current, change)
        if leads_elsewhere(current, changed):
            # Else whoever may change the address could have a secret sent to a host of theirs.
            changed = replace(without_secrets(changed), tools=None, offered=None)
        changed = with_secrets(changed, change, tenant=tenant, secrets=self._secrets)
        if change.accept:
            changed = agreed(changed, change.accept)
        if changed.link != current.link:
            changed = replace(changed, problem="", problem_details={})
        if changed.enabled:
            require_reachable(changed, programs=self.programs)
            if changed.tools is None or changed.problem or _is_other(current, changed):
                changed = self._asked(principal, changed)
        self._store.save(tenant, changed)
        return changed

    def test(self, principal: Principal, server_id: str) -> McpTrial:
        """Connect once and return what the server lists; what is learnt is kept.

        Raises:
            ForbiddenError: `forbidden`.
            NotFoundError: `mcp_server_not_found`.
            InvalidRequestError: `mcp_parameter_missing`, `mcp_stdio_unavailable`.
            ConflictError: `mcp_sign_in_needed`.
            UnavailableError: `mcp_server_unavailable`.
            TooLargeError: `mcp_list_too_large`.

        """
        tenant = _administered(principal)
        server = self._found_or_new(tenant, server_id)
        require_reachable(server, programs=self.programs)
        try:
            tools = self._listed(principal, server)
            known = learnt(server, tools, self._clock.now())
        except ArchivoltError as error:
            self._store.note(tenant, failed(server, error, self._clock.now()))
            raise
        self._store.note(tenant, known)
        shown = known.offered if known.offered is not None else known.wanted
        return McpTrial(tools=shown, agreed=known.offered is None)

    def remove(self, principal: Principal, server_id: str) -> None:
        """Forget a server, its secrets and people's accounts at it.

        One of the catalogue is turned off with it.

        Raises:
            ForbiddenError: `forbidden`.
            NotFoundError: `mcp_server_not_found`.

        """
        tenant = _administered(principal)
        if not self._store.delete(tenant, server_id):
            raise NotFoundError("mcp_server_not_found", server=server_id[:MAX_MCP_ID_CHARS])
        self._accounts().forget_server(tenant, server_id)

    def _listed(self, principal: Principal, server: McpServer) -> Sequence[McpTool]:
        return self._access.using(
            principal,
            server,
            lambda target: self._client().tools(target),
            seconds=MCP_WAIT_SECONDS,
        )

    def _asked(self, principal: Principal, server: McpServer) -> McpServer:
        try:
            return learnt(server, self._listed(principal, server), self._clock.now())
        except ArchivoltError as error:
            return failed(server, error, self._clock.now())

    def _found_or_new(self, tenant: TenantId, server_id: str) -> McpServer:
        if not _ID.fullmatch(server_id):
            raise NotFoundError("mcp_server_not_found", server=server_id[:MAX_MCP_ID_CHARS])
        kept = self._store.of_tenant(tenant)
        found = next((server for server in kept if server.id == server_id), None)
        own = [server for server in kept if server.id not in CATALOGUE]
        if found is None and server_id not in CATALOGUE and len(own) >= MAX_MCP_SERVERS:
            raise InvalidRequestError("mcp_servers_too_many", limit=MAX_MCP_SERVERS)
        return found or self._new(server_id)

    def _new(self, server_id: str) -> McpServer:
        entry = entry_of(server_id)
        program = self.programs or not entry.url
        transport = McpTransport.STDIO if program else McpTransport.HTTP
        return McpServer(id=server_id, title=entry.title, transport=transport, expose=entry.expose)


def _is_other(before: McpServer, after: McpServer) -> bool:
    """Tell whether what a server lists may be other than what was learnt of it."""
    same = (before.enabled, before.link, before.expose) == (True, after.link, after.expose)
    return not same


def _administered(principal: Principal) -> TenantId:
    """Return the caller's tenant if they administer it (S34)."""
    if not principal.role.includes(Role.TENANT_ADMIN):
        raise ForbiddenError("forbidden")
    return principal.tenant
