"""The change that an administrator asks for, and what it makes of a server's plain fields."""

import re
from dataclasses import replace
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from archivolt.domain import federation_limits, limits
from archivolt.domain.errors import ConflictError
from archivolt.domain.federation import McpServer, McpTransport, exposed, list_digest
from archivolt.domain.http_addresses import http_address
from archivolt.federation.catalogue import entry_of

_PRINTABLE: Final = re.compile(r"[\x20-\x7e]*")


def _one_line(text: str) -> str:
    if any(not sign.isprintable() for sign in text):
        raise ValueError("more than one line")
    return text


def _header_value(value: SecretStr) -> SecretStr:
    if not _PRINTABLE.fullmatch(value.get_secret_value()):
        raise ValueError("not one line of ASCII")
    return value


Line = Annotated[
    str, AfterValidator(_one_line), Field(max_length=federation_limits.MAX_MCP_COMMAND_CHARS)
]
ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
ParameterValue = Annotated[
    SecretStr,
    AfterValidator(_header_value),
    Field(max_length=federation_limits.MAX_MCP_PARAMETER_CHARS),
]
ListedName = Annotated[str, Field(min_length=1, max_length=128)]


class McpClientChange(BaseModel):
    """As whom people are let in to a server where somebody registered us; null: we do it."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    client_id: Line | None = Field(
        default=None,
        min_length=1,
        description="The id that the authorization server knows us by.",
    )
    client_secret: ParameterValue | None = Field(
        default=None,
        description="Write-only; its fingerprint, sent back, changes nothing.",
    )
    scope: Line | None = Field(
        default=None,
        description="What to ask for, in place of what the server says.",
    )


class McpChange(BaseModel):
    """What to change of a server; what is absent stays, and null means the catalogue's again."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    enabled: bool | None = Field(default=None, description="Whether its tools are offered.")
    title: Annotated[str, AfterValidator(_one_line)] | None = Field(
        default=None,
        max_length=federation_limits.MAX_MCP_TITLE_CHARS,
        description="What people call it.",
    )
    transport: McpTransport | None = Field(
        default=None,
        description="`stdio` or `http`; left out, what goes with the command or url given here.",
    )
    command: Line | None = Field(default=None, description="A program of this machine.")
    args: list[Line] | None = Field(default=None, max_length=federation_limits.MAX_MCP_ARGUMENTS)
    url: Annotated[str, AfterValidator(http_address)] | None = Field(
        default=None,
        max_length=limits.MAX_URL_CHARS,
        description="The address of its streamable HTTP endpoint. With another host, as with"
        " another command, its secrets are forgotten unless the same change gives them.",
    )
    parameters: dict[ParameterName, ParameterValue | None] | None = Field(
        default=None,
        max_length=federation_limits.MAX_MCP_PARAMETERS,
        description="Variables of a program, headers over HTTP. Those not named stay; null takes"
        " one back, and null for all takes back all. Write-only but for those that the catalogue"
        " shows: a fingerprint that is sent back changes nothing.",
    )
    oauth: McpClientChange | None = Field(
        default=None,
        description="For servers where people sign in with an account of their own; given as a"
        " whole, and forgotten with another host.",
    )
    expose: list[ListedName] | None = Field(
        default=None,
        max_length=federation_limits.MAX_MCP_TOOLS,
        description="The tools to offer, by the names that it lists; `[]`: all.",
    )
    accept: str = Field(
        default="",
        max_length=64,
        description="The `tools_digest` of a changed list, to agree to what you have seen.",
    )

    @model_validator(mode="after")
    def _goes_one_way(self) -> Self:
        if self.command and self.url and self.transport is None:
            raise PydanticCustomError("value_error", "command and url: say which by transport")
        return self


def changed_plainly(server: McpServer, change: McpChange) -> McpServer:
    """Return a server with what a change names, but for its parameters."""
    named = change.model_fields_set
    fields: dict[str, object] = {}
    if "enabled" in named:
        fields["enabled"] = bool(change.enabled)
    if "title" in named:
        fields["title"] = change.title or ""
    if "command" in named:
        fields["command"] = change.command or ""
    if "args" in named:
        fields["arguments"] = tuple(change.args or ())
    if "url" in named:
        fields["url"] = change.url or ""
    if "expose" in named:
        usual = entry_of(server.id).expose
        fields["expose"] = usual if change.expose is None else tuple(sorted(set(change.expose)))
    fields["transport"] = _transport(server, change)
    return replace(server, **fields)  # pyright: ignore[reportArgumentType]  by name


def _transport(server: McpServer, change: McpChange) -> McpTransport:
    if change.transport is not None:
        return change.transport
    if change.url:
        return McpTransport.HTTP
    return McpTransport.STDIO if change.command else server.transport


def agreed(server: McpServer, digest: str) -> McpServer:
    """Return a server whose changed list is agreed to; what is not exposed stays as it was.

    Raises:
        ConflictError: `mcp_tools_changed`: it is not the list that was seen.

    """
    seen = server.wanted if server.offered is None else server.offered
    if server.tools is None or list_digest(seen) != digest:
        raise ConflictError("mcp_tools_changed", server=server.id)
    names = {*server.expose, *(tool.name for tool in seen)}
    unseen = [tool for tool in server.tools if server.expose and tool.name not in names]
    return replace(server, tools=exposed([*seen, *unseen], ()), offered=None)
