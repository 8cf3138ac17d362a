"""MCP servers of others within one turn: what they offer, and which of them has dropped out (L8).

What is offered comes from lists that are agreed to and kept, so that no server is spoken to before
the model is asked. One that fails is out for the rest of the turn and tried again in the next.
"""

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Final, TypeVar

from archivolt.domain.abandonment import abandonable
from archivolt.domain.errors import ArchivoltError, ConflictError, TooLargeError, UnavailableError
from archivolt.domain.federation import McpServer, McpStatus
from archivolt.domain.federation_limits import (
    MAX_OUTSIDE_CALLS,
    MAX_OUTSIDE_TOOLS,
)
from archivolt.domain.identity import Principal, TenantId
from archivolt.domain.messages import Language
from archivolt.domain.stream import Notice
from archivolt.domain.tool import ToolSpec
from archivolt.federation.calls import McpCalls
from archivolt.ports.federation import ArgumentSchemas
from archivolt.tools.federated import FederatedTool, federated_tool

ResultT = TypeVar("ResultT")

_OUT_AT_ONCE: Final = frozenset(
    {
        *("mcp_server_unavailable", "mcp_call_cut", "mcp_outcome_unknown"),
        *("mcp_tools_changed", "mcp_list_too_large"),
        *("mcp_sign_in_needed", "mcp_sign_in_unavailable"),
    }
)
_TIMEOUT: Final = "mcp_call_timeout"
_TIMEOUTS: Final = 2
# Of declarations, as JSON; what is made of them takes a few times as much.
_REMEMBERED_BYTES: Final = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideTools:
    """What servers of others offer in a turn.

    `problems` are those of servers that offer nothing, for the person; `silent` are those whose
    tools nobody knows, to be asked once the turn is over.
    """

    tools: Sequence[FederatedTool] = ()
    problems: Sequence[ArchivoltError] = ()
    silent: Sequence[McpServer] = ()

    def notices(self, language: Language) -> tuple[Notice, ...]:
        """Return what the person is told of servers that offer nothing."""
        return tuple(
            Notice(code=problem.code, message=problem.message(language))
            for problem in self.problems
        )


class Outside:
    """The servers of a tenant, turn by turn.

    Args:
        calls: Makes calls to them.
        schemas: Holds arguments to their schemas.
        background: Runs something that nobody waits for.

    """

    def __init__(
        self,
        calls: McpCalls,
        schemas: Callable[[], ArgumentSchemas],
        background: Callable[[Callable[[], None]], object],
    ) -> None:
        self._calls = calls
        self._schemas = schemas
        self._background = background
        self._asking: set[tuple[TenantId, str]] = set()
        self._made: dict[tuple[TenantId, str], tuple[McpServer, tuple[FederatedTool, ...]]] = {}
        self._lock = Lock()

    def offered(self, principal: Principal) -> OutsideTools:
        """Return what the caller's servers offer; nothing is connected."""
        problems: list[ArchivoltError] = []
        silent: list[McpServer] = []
        tools: dict[str, FederatedTool] = {}
        servers = self._calls.servers(principal)
        self._forget_others(principal.tenant, {server.id for server in servers})
        for server in servers:
            if server.status is McpStatus.CHANGED:
                problems.append(ConflictError("mcp_tools_changed", server=server.id))
            elif server.tools is None:
                problems.append(_problem_of(server))
                silent.append(server)
            for tool in self._tools_of(principal, server) if server.offered is None else ():
                tools.setdefault(tool.name, tool)
        if len(tools) > MAX_OUTSIDE_TOOLS:
            left = len(tools) - MAX_OUTSIDE_TOOLS
            problems.append(TooLargeError("mcp_tools_too_many", limit=MAX_OUTSIDE_TOOLS, left=left))
        chosen = tuple(tools.values())[:MAX_OUTSIDE_TOOLS]
        return OutsideTools(tools=chosen, problems=problems, silent=silent)

    def _tools_of(self, principal: Principal, server: McpServer) -> tuple[FederatedTool, ...]:
        """Return the tools of a server, made anew only where it changed: they know their sizes."""
        place = principal.tenant, server.id
        with self._lock:
            known, tools = self._made.get(place, (None, ()))
        if known == server:
            return tools
        tools = tuple(
            federated_tool(server, listed, self._calls, self._schemas) for listed in server.wanted
        )
        with self._lock:
            self._made.pop(place, None)
            self._made[place] = server, tools
            held = sum(_size(made) for _, made in self._made.values())
            while held > _REMEMBERED_BYTES and len(self._made) > 1:
                oldest = next(iter(self._made))
                held -= _size(self._made.pop(oldest)[1])
        return tools

    def _forget_others(self, tenant: TenantId, kept: Set[str]) -> None:
        """Let go of the servers that a tenant has no more."""
        with self._lock:
            for place in [each for each in self._made if each[0] == tenant]:
                if place[1] not in kept:
                    del self._made[place]

    def ask_again(self, principal: Principal, servers: Sequence[McpServer]) -> None:
        """Ask servers whose tools nobody knows, each once at a time, while nobody waits."""
        for server in servers:
            asked = (principal.tenant, server.link)
            with self._lock:
                if asked in self._asking:
                    continue
                self._asking.add(asked)
            self._background(lambda server=server, asked=asked: self._ask(principal, server, asked))

    def close(self) -> None:
        """End every connection and program."""
        self._calls.close()

    def _ask(self, principal: Principal, server: McpServer, asked: tuple[TenantId, str]) -> None:
        try:
            self._calls.ask(principal, server)
        finally:
            with self._lock:
                self._asking.discard(asked)


class Dropouts:
    """Which servers are out for the rest of a turn."""

    def __init__(self) -> None:
        self._out: set[str] = set()
        self._timeouts: Counter[str] = Counter()

    def note(self, spec: ToolSpec, error: ArchivoltError, language: Language) -> Notice | None:
        """Take a failed call; return what the person is told if its server drops out by it."""
        self._timeouts[spec.source] += error.code == _TIMEOUT
        leaves = error.code in _OUT_AT_ONCE or self._timeouts[spec.source] >= _TIMEOUTS
        if not spec.source or spec.source in self._out or not leaves:
            return None
        self._out.add(spec.source)
        return Notice(code=error.code, message=error.message(language))

    def is_out(self, spec: ToolSpec) -> bool:
        """Tell whether a tool is of a server that is out."""
        return spec.source in self._out


async def in_thread(work: Callable[[], ResultT], *, outside: bool, whole: bool = False) -> ResultT:
    """Run what blocks; calls to servers of others do not take the threads of everybody else.

    When nobody waits any more, such a call is given up, unless it is to be made `whole`.
    """
    if not outside:
        return await asyncio.to_thread(work)
    context = contextvars.copy_context()
    abandonment = context.run(abandonable)
    loop = asyncio.get_running_loop()
    try:
        return await loop.run_in_executor(_outside_threads(), context.run, work)
    except asyncio.CancelledError:
        if not whole:
            abandonment.declare()
        raise


@cache
def _outside_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_OUTSIDE_CALLS, thread_name_prefix="outside")


def _size(tools: Sequence[FederatedTool]) -> int:
    return sum(tool.spec.declaration.size for tool in tools)


def _problem_of(server: McpServer) -> ArchivoltError:
    if not server.problem:
        return UnavailableError("mcp_server_unavailable", server=server.id, reason="mcp_unasked")
    return UnavailableError(server.problem, **{**server.problem_details, "server": server.id})
