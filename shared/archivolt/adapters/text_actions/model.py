"""`ChatProvider` for whatever has tools, and, where it turns out to have none, without them."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from archivolt.adapters.text_actions.blocks import ActionReader
from archivolt.adapters.text_actions.requests import search_first, without_tools
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.domain.text_size import utf8_size
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import (
    ChatModel,
    ChatProvider,
    ModelEvent,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    TextDelta,
)

# What Ollama, vLLM, OpenRouter and others say of a model or a server that knows no tools.
_NO_TOOLS: Final = re.compile(
    r"(?:(?:not|n['\u2019]t) support(?:ed)?|unsupported|no endpoints? found that supports?"
    r"|requires --enable)"
    r".{0,60}\b(?:tools?|tool[ _-]?(?:use|choice|calls?)|functions?)\b"
    r"|\b(?:tools?|tool[ _-]?(?:use|choice|calls?)|function[ _-]?call\w*)\b.{0,60}"
    r"(?:not support|n['\u2019]t support|unsupported|requires --(?:enable|jinja))",
    re.IGNORECASE,
)
# llama.cpp says it as an error of its own; of whatever else fails, tools are not the reason.
_NO_TOOLS_AT_LLAMA_CPP: Final = re.compile(
    r"HTTP 50[01]\b.*(?:unsupported param: tools|tools param requires --jinja)", re.IGNORECASE
)
# Some of what a request has of tools is too much; others would be taken.
_OF_SOME_TOOLS: Final = re.compile(
    r"\bschemas?\b|\bkeyword\b|\bparameters\b|\bmore than \d|\bparallel", re.IGNORECASE
)
# A model may end with calls that nobody offered it; what else ends a turn has cut it.
_WHOLE: Final = frozenset({"stop", "tool_calls"})


class ModelWithoutTools:
    """A `ChatModel` that searches by itself before its model speaks, and reads what that writes."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ChatModel.create_message`."""
        search = search_first(request)
        if search is not None:
            yield ModelTurn(text="", tool_calls=(search,), finish_reason="tool_calls", asked=False)
            return
        reader = ActionReader()
        text = ""
        async with aclosing(self._model.create_message(without_tools(request))) as events:
            async for event in events:
                shown = reader.feed(event.text) if isinstance(event, TextDelta) else ""
                if isinstance(event, ModelTurn):
                    shown, calls = reader.close(whole=event.finish_reason in _WHOLE)
                    turn = replace(event, text=text + shown, tool_calls=calls)
                    if shown:
                        yield TextDelta(text=shown)
                    yield replace(turn, finish_reason="tool_calls") if calls else turn
                    return
                text += shown
                unseen = event.unseen + utf8_size(event.text) - utf8_size(shown)
                if shown or unseen:
                    yield TextDelta(text=shown, unseen=unseen)


class ToolFallback:
    """A `ChatProvider` that goes on without tools where its provider says the model has none.

    Args:
        provider: Whatever answers.
        toolless: The models of this provider that have no tools, as far as this process knows.

    """

    def __init__(self, provider: ChatProvider, toolless: set[str]) -> None:
        self._provider = provider
        self._toolless = toolless

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ChatModel.create_message`."""
        if request.model not in self._toolless or not request.tools:
            begun = False
            try:
                async with aclosing(self._provider.create_message(request)) as events:
                    async for event in events:
                        begun = True
                        yield event
                    return
            except (InvalidRequestError, UnavailableError) as error:
                if begun or not (request.tools and _knows_no_tools(error)):
                    raise
                if not request.answer_only:
                    # Else what it refuses may be no more than to be told to call none.
                    self._toolless.add(request.model)
        without = ModelWithoutTools(self._provider)
        async with aclosing(without.create_message(request)) as events:
            async for event in events:
                yield event

    def convert_mcp_tool(self, tool: Mapping[str, Any]) -> JsonObject:
        """See `ChatProvider.convert_mcp_tool`."""
        return self._provider.convert_mcp_tool(tool)

    def extract_tool_calls(self, answer: JsonObject) -> tuple[ModelToolCall, ...]:
        """See `ChatProvider.extract_tool_calls`."""
        return self._provider.extract_tool_calls(answer)

    def estimate_cost(self, input_tokens: int, output_tokens: int, model: str) -> Decimal:
        """See `ChatProvider.estimate_cost`."""
        return self._provider.estimate_cost(input_tokens, output_tokens, model)


def _knows_no_tools(error: ArchivoltError) -> bool:
    reason = str(error.details.get("reason", ""))
    if isinstance(error, UnavailableError):
        return _NO_TOOLS_AT_LLAMA_CPP.match(reason) is not None
    return bool(_NO_TOOLS.search(reason)) and not _OF_SOME_TOOLS.search(reason)
