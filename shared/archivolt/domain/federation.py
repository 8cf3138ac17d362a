"""MCP servers of others: how they are reached, what they list, and what a call to them comes to.

Everything that such a server says (names, descriptions, results, questions) is untrusted data.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from archivolt.domain.errors import ConflictError
from archivolt.domain.federation_limits import MCP_CALL_SECONDS
from archivolt.domain.language import Message
from archivolt.domain.tool import JsonObject, Risk

PROXY_PLACE: Final = "{proxy}"
"""In a command's arguments: where a guarded proxy on the loopback listens (decision 25)."""


class McpTransport(StrEnum):
    """How a server is spoken to (L2)."""

    STDIO = "stdio"
    """A program on this machine: one machine and containers only (decision 25)."""

    HTTP = "http"


class McpStatus(StrEnum):
    """How a server stands, as an administrator sees it (L15)."""

    INACTIVE = "inactive"
    CONNECTED = "connected"
    """Its tools are agreed to, and it answered when it was last asked."""

    ERROR = "error"
    CHANGED = "changed"
    """It lists other tools than those agreed to: none is offered before somebody looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpParameter:
    """A value that an entry of the catalogue takes: a variable of a program, a header over HTTP."""

    name: str
    description: Message
    secret: bool = True
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class McpEntry:
    """An entry of the catalogue (L10). What is "" an administrator has to give.

    `expose` are the tools that are offered unless they name others; none: all (L11).
    """

    id: str
    title: str
    description: Message
    command: str = ""
    arguments: tuple[str, ...] = ()
    url: str = ""
    parameters: tuple[McpParameter, ...] = ()
    expose: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool as its server lists it; what it does not say of itself is the worst."""

    name: str
    title: str = ""
    description: str = ""
    parameters: JsonObject = field(default_factory=dict[str, object])
    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True

    @property
    def risk(self) -> Risk:
        """How much harm a call can do, as far as the server says (decision 26)."""
        if self.read_only:
            return Risk.READ
        return Risk.DANGEROUS if self.destructive else Risk.WRITE

    @property
    def repeatable(self) -> bool:
        """Whether a call that was cut off may be made once more (S35)."""
        return self.read_only or self.idempotent


def list_digest(tools: Iterable[McpTool]) -> str:
    """Return what tells one list of tools from another, whatever their order."""
    listed = sorted((asdict(tool) for tool in tools), key=lambda tool: str(tool["name"]))
    text = json.dumps(listed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def exposed(tools: Iterable[McpTool], names: Iterable[str]) -> tuple[McpTool, ...]:
    """Return the tools of these names, by name; all if none is named (L11)."""
    wanted = frozenset(names)
    chosen = (tool for tool in tools if not wanted or tool.name in wanted)
    return tuple(sorted(chosen, key=lambda tool: tool.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClientSettings:
    """As whom people are let in to a server where an administrator registered us there.

    `sealed` is the secret, bound to the tenant and `client_field`. `scope` is asked for in place of
    what the server says, "" for that. Without an `id` we find out ourselves who we are.
    """

    id: str = ""
    sealed: str = ""
    fingerprint: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """A server as a tenant configured it.

    An empty `command`, `arguments` or `url` stands for the catalogue's. `plain` values are shown;
    `sealed` ones are ciphertext bound to the tenant and `parameter_field`, shown as `fingerprints`.
    `tools` are those agreed to, of which `wanted` are exposed; `offered` is what the server lists
    now where that differs, until an administrator agrees. `problem` is the code of the last
    failure, its sentence's values beside.
    """

    id: str
    title: str = ""
    enabled: bool = False
    transport: McpTransport = McpTransport.STDIO
    command: str = ""
    arguments: tuple[str, ...] = ()
    url: str = ""
    plain: Mapping[str, str] = field(default_factory=dict[str, str])
    sealed: Mapping[str, str] = field(default_factory=dict[str, str])
    fingerprints: Mapping[str, str] = field(default_factory=dict[str, str])
    oauth: McpClientSettings = McpClientSettings()
    expose: tuple[str, ...] = ()
    tools: tuple[McpTool, ...] | None = None
    offered: tuple[McpTool, ...] | None = None
    problem: str = ""
    problem_details: Mapping[str, str | int] = field(default_factory=dict[str, str | int])
    checked_at: datetime | None = None

    @property
    def status(self) -> McpStatus:
        """How it stands."""
        if not self.enabled:
            return McpStatus.INACTIVE
        if self.offered is not None:
            return McpStatus.CHANGED
        if self.problem or self.tools is None:
            return McpStatus.ERROR
        return McpStatus.CONNECTED

    @property
    def wanted(self) -> tuple[McpTool, ...]:
        """The tools that are agreed to and exposed."""
        return exposed(self.tools or (), self.expose)

    def works(self, *, programs: bool) -> bool:
        """Tell whether it can be reached so here, where `programs` are run or not (decision 25)."""
        return programs or self.transport is not McpTransport.STDIO

    def leads_out(self, tool: McpTool) -> bool:
        """Tell whether strangers see the arguments of a call: over HTTP, whatever they say."""
        return tool.open_world or self.transport is McpTransport.HTTP

    @property
    def link(self) -> str:
        """What tells one way to reach it from another: a change of it is another connection."""
        way = [self.id, self.transport, self.command, *self.arguments, self.url]
        values = [sorted(self.plain.items()), sorted(self.sealed.items())]
        return hashlib.sha256(json.dumps([way, values]).encode()).hexdigest()[:32]


def parameter_field(server: str, name: str) -> str:
    """Return the field that a value of a server is sealed to."""
    return f"mcp:{server}:{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTarget:
    """Where a connection goes, secrets opened: it is never kept, shown or logged.

    `server` names it to people, `values` are variables of the program, or headers. `account` names
    the sign-in of the person whose token is among them, "" for none. `seconds` are left for what is
    done there.
    """

    server: str
    transport: McpTransport
    command: str = field(default="", repr=False)
    arguments: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    values: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    account: str = ""
    seconds: float = MCP_CALL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class McpQuestion:
    """What a server asks the person in the middle of a call; `url` where it asks to go there."""

    id: str
    message: str
    parameters: JsonObject = field(default_factory=dict[str, object])
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpAnswers:
    """A person's answers to questions, by the questions' ids, and the server's mark for going on.

    A server of the older era is asked anew and asks anew: it is told all that was answered before.
    """

    content: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpResult:
    """What a call came to: a text, or `questions` that have to be answered first.

    `failed`: the tool itself says so. `state` is to be given back with the answers.
    """

    text: str = ""
    failed: bool = False
    questions: tuple[McpQuestion, ...] = ()
    state: str | None = None


class QuestionAskedError(ConflictError):
    """A call waits for the person's answer to what its server asks; it goes on when it has it."""

    def __init__(self, server: str, result: McpResult, before: McpAnswers | None) -> None:
        super().__init__("mcp_input_required", server=server)
        self.questions = result.questions
        self.state = result.state
        self.before = before
