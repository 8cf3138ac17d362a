"""What is sent to `/chat/completions`."""

import re
from collections.abc import Mapping
from typing import Any

from archivolt.adapters.streaming.echoes import read_echo
from archivolt.adapters.streaming.pairs import arguments_object, valid_pairs
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelMessage, ModelRequest, WireFormat

_TOO_MANY_TOKENS = re.compile(r"at most (\d{2,7}) completion tokens")


def completion_request(request: ModelRequest) -> JsonObject:
    """Return the body that asks for a streamed completion with its usage."""
    body: JsonObject = {
        "model": request.model,
        "messages": [_message(message) for message in valid_pairs(request.messages)],
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
    wire: JsonObject = {"role": message.role, "content": _content(message)}
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
    for item in read_echo(WireFormat.OPENAI, message):
        if "call" in item:
            wire["tool_calls"][item["call"]]["extra_content"] = item["extra_content"]
        else:
            wire |= item
    return wire


def _content(message: ModelMessage) -> str | list[JsonObject]:
    if not message.images:
        return message.text
    images: list[JsonObject] = [
        {"type": "image_url", "image_url": {"url": f"data:{each.media_type};base64,{each.data}"}}
        for each in message.images
    ]
    text: list[JsonObject] = [{"type": "text", "text": message.text}] if message.text else []
    return [*text, *images]


def _valid(arguments: str) -> str:
    return arguments if arguments_object(arguments) else "{}"


def without_what_was_refused(body: Mapping[str, Any], complaint: str) -> JsonObject | None:
    """Return the body as this provider takes it, None when its complaint is about something else.

    Some providers know no `stream_options`; newer models of OpenAI take `max_completion_tokens`;
    and a model may write less than a tenant allows.
    """
    if "stream_options" in body and "stream_options" in complaint:
        return {key: value for key, value in body.items() if key != "stream_options"}
    if "max_tokens" in body and "max_completion_tokens" in complaint:
        renamed = {key: value for key, value in body.items() if key != "max_tokens"}
        return renamed | {"max_completion_tokens": body["max_tokens"]}
    limit = _TOO_MANY_TOKENS.search(complaint)
    for name in ("max_tokens", "max_completion_tokens"):
        if limit and int(limit[1]) < body.get(name, 0):
            return {**body, name: int(limit[1])}
    return None
