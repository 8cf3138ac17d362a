"""MCP servers of others as JSON."""

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, Field

from archivolt.domain.federation import McpServer, McpStatus, McpTool, McpTransport, list_digest
from archivolt.domain.mcp_accounts import McpAccountState
from archivolt.domain.messages import Language, message_for
from archivolt.domain.tool import Risk
from archivolt.federation.catalogue import CATALOGUE, entry_of
from archivolt.federation.naming import offered_name
from archivolt.federation.servers import McpTrial


class McpToolBody(BaseModel):
    """A tool that a server lists. What is said of it are the server's own words."""

    name: str
    offered_as: str = Field(description="Its name for the chat's model.")
    title: str
    description: str
    risk: Risk = Field(description="As far as the server says; anything but read asks a person.")
    open_world: bool = Field(description="Whether it reaches beyond the server.")

    @classmethod
    def of(cls, server_id: str, tool: McpTool) -> Self:
        """Return a tool as JSON."""
        return cls(
            name=tool.name,
            offered_as=offered_name(server_id, tool.name),
            title=tool.title,
            description=tool.description,
            risk=tool.risk,
            open_world=tool.open_world,
        )


class McpParameterBody(BaseModel):
    """A value that a server is given."""

    name: str
    description: str
    secret: bool
    required: bool
    value: str = Field(description='As it is, or the fingerprint of a secret; "" for none.')


class McpClientBody(BaseModel):
    """As whom people are let in to a server, where they sign in with an account of their own."""

    client_id: str = Field(description='"" where we register ourselves.')
    client_secret: str = Field(description='The fingerprint of its secret; "" for none.')
    scope: str = Field(description='What is asked for; "" for what the server says.')
    redirect_uri: str = Field(description="To register with it; with another url it is another.")


class McpProblem(BaseModel):
    """Why a server cannot be used."""

    code: str
    message: str


class McpServerBody(BaseModel):
    """A server. How it is reached is shown to administrators only."""

    id: str
    title: str
    description: str
    origin: Literal["catalogue", "own"]
    enabled: bool
    status: McpStatus
    problem: McpProblem | None
    checked_at: datetime | None = Field(description="When it was last asked.")
    transport: McpTransport
    works_here: bool = Field(
        description="Whether this deployment can reach it so: programs run in the stack on one"
        " machine only, addresses everywhere."
    )
    command: str = ""
    args: list[str] = []
    url: str = ""
    parameters: list[McpParameterBody] = []
    oauth: McpClientBody | None = Field(
        default=None, description="None for programs, and where nobody can sign in."
    )
    account: McpAccountState | None = Field(
        description="How you stand with it, where it wants accounts; null for programs."
    )
    expose: list[str]
    tools: list[McpToolBody] = Field(description="Those that are agreed to.")
    tools_digest: str = Field(description="Of the list below, or of `tools`; for `accept`.")
    changed_tools: list[McpToolBody] | None = Field(
        description="What it lists now, where that is another list: nothing of it is offered."
    )


class McpServerList(BaseModel):
    """The catalogue, then the tenant's own servers."""

    servers: list[McpServerBody]


class McpTrialBody(BaseModel):
    """What a trial connection found."""

    tools: list[McpToolBody]
    tools_digest: str
    agreed: bool = Field(description="Whether these are the tools agreed to, if any are.")

    @classmethod
    def of(cls, server_id: str, trial: McpTrial) -> Self:
        """Return a trial as JSON."""
        return cls(
            tools=[McpToolBody.of(server_id, tool) for tool in trial.tools],
            tools_digest=list_digest(trial.tools),
            agreed=trial.agreed,
        )


def server_body(
    server: McpServer,
    language: Language,
    *,
    programs: bool,
    whole: bool,
    redirect_uri: str,
    account: McpAccountState | None,
) -> McpServerBody:
    """Return a server as JSON; `whole` with how it is reached.

    `redirect_uri` is where people who sign in there come back to, "" for nowhere; `account` how the
    caller stands.
    """
    entry = entry_of(server.id)
    offered = server.offered if server.offered is not None else server.wanted
    changed = (
        None
        if server.offered is None
        else [McpToolBody.of(server.id, tool) for tool in server.offered]
    )
    return McpServerBody(
        id=server.id,
        title=server.title or entry.title,
        description=entry.description.spoken(language),
        origin="catalogue" if server.id in CATALOGUE else "own",
        enabled=server.enabled,
        status=server.status,
        problem=_problem(server, language),
        checked_at=server.checked_at,
        transport=server.transport,
        works_here=server.works(programs=programs),
        command=(server.command or entry.command) if whole else "",
        args=list(server.arguments or entry.arguments) if whole else [],
        url=(server.url or entry.url) if whole else "",
        parameters=_parameters(server, language) if whole else [],
        oauth=_client(server, redirect_uri) if whole and redirect_uri else None,
        account=account,
        expose=list(server.expose),
        tools=[McpToolBody.of(server.id, tool) for tool in server.wanted],
        tools_digest=list_digest(offered),
        changed_tools=changed,
    )


def _client(server: McpServer, redirect_uri: str) -> McpClientBody:
    return McpClientBody(
        client_id=server.oauth.id,
        client_secret=server.oauth.fingerprint,
        scope=server.oauth.scope,
        redirect_uri=redirect_uri,
    )


def _problem(server: McpServer, language: Language) -> McpProblem | None:
    if not server.problem:
        return None
    details = {"server": server.id, **server.problem_details}
    message = message_for(server.problem, language, details)
    return McpProblem(code=server.problem, message=message)


def _parameters(server: McpServer, language: Language) -> list[McpParameterBody]:
    declared = {parameter.name: parameter for parameter in entry_of(server.id).parameters}
    values = {**server.plain, **server.fingerprints}
    return [
        McpParameterBody(
            name=name,
            description=declared[name].description.spoken(language) if name in declared else "",
            secret=name not in declared or declared[name].secret,
            required=name in declared and declared[name].required,
            value=values.get(name, ""),
        )
        for name in [*declared, *(name for name in values if name not in declared)]
    ]
