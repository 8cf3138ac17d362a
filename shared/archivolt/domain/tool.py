"""What a tool is, whoever calls it (O9)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from archivolt.domain.messages import Message

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as callers see it. `parameters` is a JSON Schema whose root is an object.

    `label` is the step text shown to a person (O61); it may name arguments as `{path}`.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    result: Mapping[str, Any]
    risk: Risk
    requires_confirmation: bool
    scopes: frozenset[Surface]
    label: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave, already redacted and truncated.

    `value` is a JSON object; `size` is the length in characters of its JSON before truncation
    (S25). When `truncated`, `value` says how to read on.
    """

    value: JsonObject
    size: int
    truncated: bool = False
