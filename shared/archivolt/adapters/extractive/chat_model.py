"""`ChatProvider` without a model: it searches, quotes the best passages, and says that it does so.

Deterministic: the same question over the same documents gives the same answer. It goes through the
same loop and the same tools as a real model; its tool calls are the ones a few rules choose.
"""

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from archivolt.adapters.extractive.answers import Answer, answer_from
from archivolt.adapters.extractive.intents import Intent, intent_of
from archivolt.adapters.extractive.phrases import Phrases, phrases_in
from archivolt.adapters.extractive.words import identifiers
from archivolt.adapters.openai.format import OpenAIFormat
from archivolt.domain.limits import MAX_QUERY_CHARS
from archivolt.domain.tool import JsonObject
from archivolt.domain.untrusted import unwrap_data
from archivolt.ports.chat_model import (
    ModelEvent,
    ModelMessage,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    TextDelta,
)

SEARCH, LIST_VAULTS = "search_documents", "list_vaults"
MAX_SEARCHES = 8
"""How many of the files a person chose are searched one by one."""

_PIECES = re.compile(r"(?:\S+\s*){1,8}|\s+")


class ExtractiveChatModel:
    """Answers with what the search tools find."""

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ChatModel.create_message`."""
        turn = _turn(request)
        for piece in _PIECES.findall(turn.text):
            yield TextDelta(text=piece)
        yield turn

    def convert_mcp_tool(self, tool: Mapping[str, Any]) -> JsonObject:
        """Return the declaration that a request for this model carries."""
        return OpenAIFormat().declaration(tool)

    def extract_tool_calls(self, answer: JsonObject) -> tuple[ModelToolCall, ...]:  # noqa: ARG002
        """Return nothing: this model is asked in process, and its calls come with the turn."""
        return ()

    def estimate_cost(self, input_tokens: int, output_tokens: int, model: str) -> Decimal:  # noqa: ARG002
        """Return nothing at all: it has no provider to pay."""
        return Decimal(0)


def _turn(request: ModelRequest) -> ModelTurn:
    phrases = phrases_in(request.language)
    question, results = _since_the_question(request.messages)
    if results:
        return _said(answer_from(question, results, phrases))
    intent = intent_of(question)
    if intent in {Intent.GREETING, Intent.THANKS, Intent.ABOUT_ITSELF}:
        return _said(_small_talk(intent, phrases))
    calls = [] if request.answer_only else _calls(intent, question, request)
    if not calls:
        return _said(Answer(text=phrases.no_tools))
    return ModelTurn(text="", tool_calls=tuple(calls), finish_reason="tool_calls", sources=())


def _said(answer: Answer) -> ModelTurn:
    return ModelTurn(text=answer.text, sources=answer.sources)


def _small_talk(intent: Intent, phrases: Phrases) -> Answer:
    if intent is Intent.THANKS:
        return Answer(text=phrases.thanks)
    opening = phrases.greeting if intent is Intent.GREETING else phrases.about_itself
    return Answer(text=f"{opening}\n\n{phrases.no_model}")


def _since_the_question(
    messages: Sequence[ModelMessage],
) -> tuple[str, list[tuple[str, JsonObject]]]:
    """Return what the person asked last, and what the tools gave since."""
    results: list[tuple[str, JsonObject]] = []
    for message in reversed(messages):
        if message.role == "user":
            return message.text, results
        if message.role == "tool":
            results[:0] = unwrap_data(message.text)
    return "", results


def _calls(intent: Intent, question: str, request: ModelRequest) -> list[ModelToolCall]:
    offered = {str(tool["function"]["name"]) for tool in request.tools}
    if intent is Intent.VAULTS and LIST_VAULTS in offered:
        return [_call(0, LIST_VAULTS, {})]
    if SEARCH not in offered:
        return []
    searches = [
        {"q": q[:MAX_QUERY_CHARS]} | place
        for place in _places(request.messages)
        for q in _queries(question)
    ]
    return [_call(number, SEARCH, search) for number, search in enumerate(searches)]


def _queries(question: str) -> list[str]:
    """Return what to search for: names of code alone as well, which the other words would drown."""
    names = " ".join(identifiers(question))
    return list(dict.fromkeys([names, question])) if names else [question]


def _call(number: int, name: str, arguments: JsonObject) -> ModelToolCall:
    text = json.dumps(arguments, ensure_ascii=False)
    return ModelToolCall(id=f"c{number:08d}", name=name, arguments=text)


def _places(messages: Sequence[ModelMessage]) -> list[JsonObject]:
    """Return where to search: the places of the scope that a person chose, else everywhere."""
    scopes = [
        value
        for message in messages
        if message.role == "system"
        for source, value in unwrap_data(message.text)
        if source == "scope"
    ]
    places = [
        {key: entry[key] for key in ("vault", "path") if entry.get(key)}
        for scope in scopes
        for entry in scope.get("places", [])
    ]
    return places[:MAX_SEARCHES] or [{}]
