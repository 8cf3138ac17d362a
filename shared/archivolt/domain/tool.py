"""What a tool is, whoever calls it (O9)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from archivolt.domain.messages import Language, Message
from archivolt.domain.outside_schemas import accepted_schema
from archivolt.domain.text_size import utf8_size

JsonObject = dict[str, Any]


class Risk(StrEnum):
    """How much harm a call can do (O9, O62)."""

    READ = "read"
    WRITE = "write"
    DANGEROUS = "dangerous"


class Surface(StrEnum):
    """A door through which a tool may be called (O9's scopes)."""

    IN_APP = "in_app"
    MCP = "mcp"


ROOM_TO_GROW = 300
"""By how many bytes a tool of others may be longer as it is sent: for some providers, what its
schema refers to is written out, and types that it leaves open are named."""


class Declaration(dict[str, Any]):
    """A tool as OpenAI declares functions. One that is made never changes: it is measured once."""

    @cached_property
    def size(self) -> int:
        """How many bytes it has as JSON at most, however it is sent."""
        return utf8_size(json.dumps(self, ensure_ascii=False))

    @cached_property
    def sent(self) -> dict[str, JsonObject]:
        """Itself as it is sent, by the form: each is made once, and never changes."""
        return {}


class OutsideDeclaration(Declaration):
    """A tool of others, whose schema is written as they like."""

    @cached_property
    def size(self) -> int:
        """How many bytes it has as JSON at most, however it is sent."""
        return utf8_size(json.dumps(self, ensure_ascii=False)) + ROOM_TO_GROW


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A tool as callers see it. `parameters` is a JSON Schema whose root is an object.

    `label` is the step text shown to a person (O61), with places for arguments: `step` fills them.
    `open_world`: strangers see the arguments of a call, as they do with a search of the web.
    `private`: what it gives may tell something of documents.
    `source` is the MCP server of others that it is of; "" for the product's own.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    result: Mapping[str, Any]
    risk: Risk
    requires_confirmation: bool
    scopes: frozenset[Surface]
    label: Message
    open_world: bool = False
    private: bool = True
    source: str = ""

    @cached_property
    def declaration(self) -> Declaration:
        """The tool as a model is told of it."""
        kind = OutsideDeclaration if self.source else Declaration
        parameters = dict(self.parameters)
        return kind(
            type="function",
            function={
                "name": self.name,
                "description": self.description,
                "parameters": accepted_schema(parameters) if self.source else parameters,
            },
        )

    def step(self, arguments: Mapping[str, Any], language: Language) -> str:
        """Return the step text of one call; an argument that is missing or empty shows as `/`."""
        return self.label.spoken(language).format_map(_StepArguments(arguments))


# The places of the labels as the catalogue writes them, and the arguments that fill them.
_STEP_PLACES: Mapping[str, tuple[str, ...]] = {
    "chemin": ("path", "source_path"),
    "path": ("path", "source_path"),
    "motif": ("find",),
    "pattern": ("find",),
}
_MAX_STEP_VALUE = 120


class _StepArguments(dict[str, Any]):
    def __missing__(self, place: str) -> str:
        return "/"

    def __getitem__(self, place: str) -> str:
        for name in _STEP_PLACES.get(place, (place,)):
            value = str(self.get(name) or "")
            if value:
                return value if len(value) <= _MAX_STEP_VALUE else value[:_MAX_STEP_VALUE] + "…"
        return self.__missing__(place)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave, already redacted and truncated.

    `value` is a JSON object; `size` is the length in characters of its JSON before truncation
    (S25). When `truncated`, `value` says how to read on.
    """

    value: JsonObject
    size: int
    truncated: bool = False
