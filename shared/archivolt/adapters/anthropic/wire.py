"""What is sent to `/messages`: the system prompt apart, and roles that alternate."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from archivolt.adapters.streaming.declarations import declared
from archivolt.adapters.streaming.echoes import read_echo
from archivolt.adapters.streaming.pairs import arguments_object, system_text, valid_pairs
from archivolt.domain.providers import WireFormat
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelMessage, ModelRequest, ModelToolCall

_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]")


def message_request(
    request: ModelRequest, declaration: Callable[[Mapping[str, Any]], JsonObject]
) -> JsonObject:
    """Return the body that asks for a streamed message."""
    body: JsonObject = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": _messages(request.messages),
        "stream": True,
    }
    if system := system_text(request.messages):
        body["system"] = system
    if request.tools:
        wire = WireFormat.ANTHROPIC
        body["tools"] = [declared(tool, wire, declaration) for tool in request.tools]
        if request.answer_only:
            body["tool_choice"] = {"type": "none"}
    return body


def _messages(messages: Sequence[ModelMessage]) -> list[JsonObject]:
    """Return the messages; those of one side in a row are one, and an empty one is none."""
    sent: list[JsonObject] = []
    for message in valid_pairs(messages):
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if sent and sent[-1]["role"] == role:
            sent[-1]["content"].extend(blocks)
        elif blocks:
            sent.append({"role": role, "content": blocks})
    return sent


def _blocks(message: ModelMessage) -> list[JsonObject]:
    if message.role == "tool":
        call_id = _sent_id(message.tool_call_id)
        return [{"type": "tool_result", "tool_use_id": call_id, "content": message.text}]
    calls = [_call(call) for call in message.tool_calls]
    if echo := read_echo(WireFormat.ANTHROPIC, message):
        return [calls[item["call"]] if "call" in item else item for item in echo]
    images: list[JsonObject] = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": each.media_type, "data": each.data},
        }
        for each in message.images
    ]
    text: list[JsonObject] = []
    if message.text.strip():
        text = [{"type": "text", "text": message.text}]
    return [*images, *text, *calls]


def _call(call: ModelToolCall) -> JsonObject:
    return {
        "type": "tool_use",
        "id": _sent_id(call.id),
        "name": call.name,
        "input": arguments_object(call.arguments),
    }


def _sent_id(call_id: str) -> str:
    return _NOT_IN_AN_ID.sub("_", call_id)
