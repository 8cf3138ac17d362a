"""Calling a tool of another server, with the tenant's secrets, on a list that is agreed to."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    InvalidRequestError,
    UnavailableError,
)
from archivolt.domain.federation import (
    McpAnswers,
    McpResult,
    McpServer,
    McpTarget,
    McpTool,
    QuestionAskedError,
)
from archivolt.domain.federation_limits import (
    MAX_MCP_QUESTION_CHARS,
    MCP_FAIR_SECONDS,
    MCP_WAIT_SECONDS,
)
from archivolt.domain.identity import Principal, Role, TenantId
from archivolt.domain.tool import JsonObject
from archivolt.federation.access import McpAccess
from archivolt.federation.learning import failed, learnt
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.federation import McpClient, McpServerStore


class McpCalls:
    """Makes calls, and keeps what is learnt of servers by the way.

    A person has connections of their own: what a browser shows one of them is not for another.

    Args:
        store: Keeps the tenants' servers.
        access: Finds the way to them for a person.
        client: Speaks to them; made when it is first needed.
        clock: The time.
        programs: Whether servers that are programs of this machine may be used (decision 25).

    """

    def __init__(
        self,
        store: McpServerStore,
        access: McpAccess,
        client: Callable[[], McpClient],
        clock: Clock,
        *,
        programs: bool,
    ) -> None:
        self._store = store
        self._access = access
        self._client = client
        self._clock = clock
        self._programs = programs
        self._has_called = False

    def servers(self, principal: Principal) -> list[McpServer]:
        """Return what is on and works here for the caller; connections to all else are closed."""
        kept = self._store.of_tenant(principal.tenant)
        on = [server for server in kept if server.enabled and server.works(programs=self._programs)]
        if self._has_called:
            own = _key(principal, "")
            current = [_key(principal, server.link) for server in on]
            self._client().forget(own, but=current)
        return on

    def call(
        self,
        principal: Principal,
        server: McpServer,
        tool: McpTool,
        arguments: JsonObject,
        answers: McpAnswers | None,
    ) -> McpResult:
        """Call a tool and return what it came to.

        Raises:
            QuestionAskedError: It asks the person something first.
            ConflictError: `mcp_tools_changed`: its list is not the one that was agreed to.
            ConflictError: `mcp_sign_in_needed`, `mcp_sign_in_unavailable`: see `McpAccess`.
            UnavailableError: See `McpClient`.
            ArchivoltError: What its list is, or asks, cannot be used.

        """
        self._has_called = True
        tenant = principal.tenant

        def called(target: McpTarget) -> McpResult:
            try:
                return self._client().call(
                    target,
                    _key(principal, server.link),
                    tool.name,
                    arguments,
                    check=lambda listed: self._check(principal, server, tool, target, listed),
                    repeatable=tool.repeatable,
                    answers=answers,
                )
            except UnavailableError as error:
                # Of the server itself: what ails somebody's account is not everybody's trouble.
                if error.code != "unavailable" and not _is_hurried(target, error):
                    self._keep(tenant, failed(server, error, self._clock.now()))
                raise

        result = self._access.using(principal, server, called)
        if server.problem:
            well = replace(server, problem="", problem_details={}, checked_at=self._clock.now())
            self._keep(tenant, well)
        if result.questions:
            _refuse_too_much(server, result)
            raise QuestionAskedError(server.id, result, answers)
        return result

    def ask(
        self, principal: Principal, server: McpServer, seconds: float = MCP_WAIT_SECONDS
    ) -> None:
        """Ask a server for its tools that has none yet, or did not answer; keep what it says.

        What it shows somebody's own account is agreed to by an administrator's alone.
        """
        self._has_called = True
        now = self._clock.now()
        administers = principal.role.includes(Role.TENANT_ADMIN)

        def listed(target: McpTarget) -> Sequence[McpTool] | None:
            if target.account and not administers:
                return None
            try:
                return self._client().tools(target)
            except UnavailableError as error:
                if _is_hurried(target, error):
                    return None
                raise

        try:
            tools = self._access.using(principal, server, listed, seconds=seconds)
            if tools is None:
                return
            known = learnt(server, tools, now)
        except ArchivoltError as error:
            if error.code == "unavailable":
                return  # we end: it says nothing of the server
            known = failed(server, error, now)
        self._keep(principal.tenant, known)

    def close(self) -> None:
        """Close all connections, and wait until no program is left (L9)."""
        if self._has_called:
            self._client().close()

    def _check(
        self,
        principal: Principal,
        server: McpServer,
        tool: McpTool,
        target: McpTarget,
        listed: Sequence[McpTool],
    ) -> None:
        """Hold what a server lists to what was agreed to.

        An account may be shown fewer tools than the one that was asked first: that is no change of
        the server, nor is what it is shown beyond that, unless it is an administrator's.
        """
        known = learnt(server, listed, self._clock.now())
        if known.offered is None:
            return
        if target.account:
            shown = [each for each in known.offered if each in server.wanted]
            if tool in shown and len(shown) == len(known.offered):
                return
        if not target.account or principal.role.includes(Role.TENANT_ADMIN):
            self._keep(principal.tenant, known)
        raise ConflictError("mcp_tools_changed", server=server.id)

    def _keep(self, tenant: TenantId, server: McpServer) -> None:
        try:
            self._store.note(tenant, server)
        except UnavailableError as error:
            # The call says it all the same, and the next one will find out anew.
            logger.warning("what was learnt of a server is not kept", extra=failure(error))


def _is_hurried(target: McpTarget, error: UnavailableError) -> bool:
    """Return whether a server took too long for what a sign-in or a renewal left of the time."""
    took_long = error.code == "mcp_call_timeout" or error.details.get("reason") == "mcp_slow"
    return took_long and target.seconds < MCP_FAIR_SECONDS


def _refuse_too_much(server: McpServer, asked: McpResult) -> None:
    """Refuse questions that are too long to be kept until somebody answers them."""
    size = len(asked.state or "") + len(json.dumps([asdict(each) for each in asked.questions]))
    if size > MAX_MCP_QUESTION_CHARS:
        raise InvalidRequestError(
            "mcp_question_unanswerable", server=server.id, reason="mcp_asks_too_much"
        )


def _key(principal: Principal, link: str) -> str:
    return f"{principal.tenant}/{principal.user}/{link}"
