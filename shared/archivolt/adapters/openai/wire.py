"""What is sent to `/chat/completions`."""

import json
from collections.abc import Mapping
from typing import Any

from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelMessage, ModelRequest


def completion_request(request: ModelRequest) -> JsonObject:
    """Return the body that asks for a streamed completion with its usage."""
    body: JsonObject = {
        "model": request.model,
        "messages": [_message(message) for message in request.messages],
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = list(request.tools)
        if request.answer_only:
            body["tool_choice"] = "none"
    return body


def _message(message: ModelMessage) -> JsonObject:
    wire: JsonObject = {"role": message.role, "content": message.text}
    if message.tool_call_id:
        wire["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _valid(call.arguments)},
            }
            for call in message.tool_calls
        ]
        if message.reasoning:
            wire["reasoning_content"] = message.reasoning
    return wire


def _valid(arguments: str) -> str:
    """Return arguments as they were, or none: a history with broken JSON is refused for ever."""
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def without_what_was_refused(body: Mapping[str, Any], complaint: str) -> JsonObject | None:
    """Return the body as this provider takes it, None when its complaint is about something else.

    Some providers know no `stream_options`; newer models of OpenAI take `max_completion_tokens`.
    """
    if "stream_options" in body and "stream_options" in complaint:
        return {key: value for key, value in body.items() if key != "stream_options"}
    if "max_tokens" in body and "max_completion_tokens" in complaint:
        renamed = {key: value for key, value in body.items() if key != "max_tokens"}
        return renamed | {"max_completion_tokens": body["max_tokens"]}
    return None
