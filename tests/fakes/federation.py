"""MCP servers of others without a network: a store in a dictionary, servers that are scripts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from archivolt.domain.errors import ArchivoltError
from archivolt.domain.federation import McpAnswers, McpResult, McpServer, McpTarget, McpTool
from archivolt.domain.identity import TenantId
from archivolt.domain.tool import JsonObject
from archivolt.ports.federation import ListCheck


class InMemoryMcpServers:
    """An `McpServerStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[TenantId, str], McpServer] = {}

    def of_tenant(self, tenant: TenantId) -> list[McpServer]:
        mine = {name: server for (owner, name), server in self._kept.items() if owner == tenant}
        return [mine[name] for name in sorted(mine)]

    def save(self, tenant: TenantId, server: McpServer) -> None:
        self._kept[tenant, server.id] = server

    def note(self, tenant: TenantId, server: McpServer) -> bool:
        kept = self._kept.get((tenant, server.id))
        if kept is None or not kept.enabled:
            return False
        if (kept.link, kept.expose) != (server.link, server.expose):
            return False
        self._kept[tenant, server.id] = replace(
            kept,
            tools=server.tools,
            offered=server.offered,
            problem=server.problem,
            problem_details=server.problem_details,
            checked_at=server.checked_at,
        )
        return True

    def delete(self, tenant: TenantId, server_id: str) -> bool:
        return self._kept.pop((tenant, server_id), None) is not None


Answer = McpResult | ArchivoltError | Callable[..., McpResult]


@dataclass
class ScriptedServer:
    """A server: what it lists, and what each of its tools answers."""

    tools: list[McpTool]
    answers: Mapping[str, Answer] = field(default_factory=dict[str, Answer])
    broken: ArchivoltError | None = None


class ScriptedMcpClient:
    """An `McpClient` of scripted servers, by id; it remembers where it went and what it said."""

    def __init__(self, servers: Mapping[str, ScriptedServer] | None = None) -> None:
        self.servers: dict[str, ScriptedServer] = dict(servers or {})
        self.targets: list[McpTarget] = []
        self.calls: list[tuple[str, str, JsonObject]] = []
        self.keys: list[str] = []
        self.given: list[McpAnswers | None] = []
        self.closed = 0

    def tools(self, target: McpTarget) -> list[McpTool]:
        self.targets.append(target)
        server = self.servers[target.server]
        if server.broken:
            raise server.broken
        return list(server.tools)

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
        check(self.tools(target))
        self.keys.append(key)
        self.calls.append((target.server, tool, arguments))
        self.given.append(answers)
        answer: Any = self.servers[target.server].answers[tool]
        if isinstance(answer, ArchivoltError):
            raise answer
        return answer if isinstance(answer, McpResult) else answer(arguments, answers)

    def forget(self, key_prefix: str, *, but: Sequence[str]) -> None:
        self.keys = [key for key in self.keys if not key.startswith(key_prefix) or key in but]

    def close(self) -> None:
        self.closed += 1
