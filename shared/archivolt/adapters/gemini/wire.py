"""What is sent to `streamGenerateContent`: contents of parts, and results by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from archivolt.adapters.streaming.declarations import declared
from archivolt.adapters.streaming.echoes import read_echo
from archivolt.adapters.streaming.pairs import arguments_object, system_text, valid_pairs
from archivolt.domain.providers import WireFormat
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelMessage, ModelRequest


def content_request(
    request: ModelRequest, declaration: Callable[[Mapping[str, Any]], JsonObject]
) -> JsonObject:
    """Return the body that asks for a streamed answer."""
    body: JsonObject = {
        "contents": _contents(request.messages),
        "generationConfig": {"maxOutputTokens": request.max_tokens},
    }
    if system := system_text(request.messages):
        body["systemInstruction"] = {"parts": [{"text": system}]}
    if request.tools:
        tools = [declared(tool, WireFormat.GEMINI, declaration) for tool in request.tools]
        body["tools"] = [{"functionDeclarations": tools}]
        if request.answer_only:
            body["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    return body


def _contents(messages: Sequence[ModelMessage]) -> list[JsonObject]:
    """Return the messages; those of one side in a row are one, and an empty one is none."""
    sent: list[JsonObject] = []
    named: dict[str, JsonObject] = {}
    for message in valid_pairs(messages):
        if message.role == "system":
            continue
        role = "model" if message.role == "assistant" else "user"
        named |= _names(message)
        parts = _parts(message, named)
        if sent and sent[-1]["role"] == role:
            sent[-1]["parts"].extend(parts)
        elif parts:
            sent.append({"role": role, "parts": parts})
    return sent


def _names(message: ModelMessage) -> dict[str, JsonObject]:
    """Return, by our id, the name of each call, and the provider's own id where it gave one."""
    given = {
        item["call"]: {"id": item["id"]}
        for item in read_echo(WireFormat.GEMINI, message)
        if "id" in item
    }
    return {
        call.id: {"name": call.name, **given.get(place, {})}
        for place, call in enumerate(message.tool_calls)
    }


def _parts(message: ModelMessage, named: Mapping[str, JsonObject]) -> list[JsonObject]:
    if message.role == "tool":
        answered = named[message.tool_call_id]
        return [{"functionResponse": {**answered, "response": {"result": message.text}}}]
    calls: list[JsonObject] = [
        {"functionCall": {**named[call.id], "args": arguments_object(call.arguments)}}
        for call in message.tool_calls
    ]
    if echo := read_echo(WireFormat.GEMINI, message):
        return [_echoed(item, calls) for item in echo]
    images: list[JsonObject] = [
        {"inlineData": {"mimeType": each.media_type, "data": each.data}} for each in message.images
    ]
    text: list[JsonObject] = [{"text": message.text}] if message.text else []
    return [*images, *text, *calls]


def _echoed(item: JsonObject, calls: Sequence[JsonObject]) -> JsonObject:
    if "call" not in item:
        return item["part"]
    signature = item.get("thoughtSignature")
    return {**calls[item["call"]], **({"thoughtSignature": signature} if signature else {})}
