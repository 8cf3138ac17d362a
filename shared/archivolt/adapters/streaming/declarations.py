"""Tools on their way to a provider: from OpenAI's declaration, and under names all take."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from archivolt.adapters.streaming.json_values import an_object, text
from archivolt.domain.providers import WireFormat
from archivolt.domain.tool import Declaration, JsonObject
from archivolt.ports.chat_model import ModelMessage, ModelRequest, ModelTurn

_MAX_NAME_CHARS = 64
_DIGEST_CHARS = 8
_REMEMBERED = 1_000
_RENAMED = "renamed"
_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{_MAX_NAME_CHARS - 1}}}")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


def as_mcp_tool(declaration: Mapping[str, Any]) -> JsonObject:
    """Return the tool that an OpenAI function declaration declares, as MCP describes tools."""
    function = an_object(declaration.get("function"))
    return {
        "name": text(function.get("name")),
        "description": text(function.get("description")),
        "inputSchema": an_object(function.get("parameters")),
    }


def declared(
    tool: Declaration, wire: WireFormat, convert: Callable[[Mapping[str, Any]], JsonObject]
) -> JsonObject:
    """Return a tool as a wire format declares it: made once, and never changed after."""
    known = tool.sent.get(wire)
    if known is None:
        known = tool.sent[wire] = convert(as_mcp_tool(tool))
    return known


@lru_cache(maxsize=_REMEMBERED)
def sent_name(name: str) -> str:
    """Return a name that every provider takes: at most 64 letters, digits, `_` and `-`."""
    if _NAME.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]
    kept = _NOT_IN_A_NAME.sub("_", name)[: _MAX_NAME_CHARS - _DIGEST_CHARS - 2]
    return f"_{kept}_{digest}" if not kept[:1].isalpha() else f"{kept}_{digest}"


class ToolNames:
    """The names of one request's tools, as they are here and as they are sent."""

    def __init__(self, declarations: Iterable[Declaration]) -> None:
        names = [_name(declaration) for declaration in declarations]
        self._ours = {sent_name(name): name for name in names}

    def sent(self, request: ModelRequest) -> ModelRequest:
        """Return the request under the names that are sent."""
        return replace(
            request,
            tools=[_renamed(declaration) for declaration in request.tools],
            messages=[_renamed_calls(message) for message in request.messages],
        )

    def received(self, turn: ModelTurn) -> ModelTurn:
        """Return the turn under our own names."""
        calls = (
            replace(call, name=self._ours.get(call.name, call.name)) for call in turn.tool_calls
        )
        return replace(turn, tool_calls=tuple(calls))


def _name(declaration: Declaration) -> str:
    return text(an_object(declaration.get("function")).get("name"))


def _renamed(declaration: Declaration) -> Declaration:
    name = _name(declaration)
    sent = sent_name(name)
    if sent == name:
        return declaration
    known = declaration.sent.get(_RENAMED)
    if not isinstance(known, Declaration):
        function = an_object(declaration.get("function"))
        known = Declaration({**declaration, "function": {**function, "name": sent}})
        declaration.sent[_RENAMED] = known
    return known


def _renamed_calls(message: ModelMessage) -> ModelMessage:
    if not message.tool_calls:
        return message
    calls = (replace(call, name=sent_name(call.name)) for call in message.tool_calls)
    return replace(message, tool_calls=tuple(calls))
