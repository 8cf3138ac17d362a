"""What is sent to `/chat/completions`."""

from collections.abc import Sequence
from dataclasses import replace

from archivolt.adapters.streaming.echoes import read_echo
from archivolt.adapters.streaming.json_values import joined
from archivolt.adapters.streaming.pairs import arguments_object, system_text, valid_pairs
from archivolt.domain.providers import WireFormat
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelMessage, ModelRequest


def completion_request(request: ModelRequest) -> JsonObject:
    """Return the body that asks for a streamed completion with its usage."""
    # One system message, and first: the chat templates of some servers take no other.
    system = system_text(request.messages)
    rules = [ModelMessage(role="system", text=system)] if system else []
    told = _taking_turns(valid_pairs(request.messages))
    body: JsonObject = {
        "model": request.model,
        "messages": [_message(message) for message in [*rules, *told]],
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = list(request.tools)
        if request.answer_only:
            body["tool_choice"] = "none"
    return body


def _taking_turns(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return the messages but the rules; an empty answer is none, and two in a row are one.

    Neither is taken by all.
    """
    told: list[ModelMessage] = []
    for message in messages:
        if message.role == "system" or not _says_anything(message):
            continue
        last = told[-1] if told else message
        if message.role == last.role == "user" and last is not message:
            text = "\n\n".join(filter(None, (last.text, message.text)))
            told[-1] = replace(last, text=text, images=(*last.images, *message.images))
        else:
            told.append(message)
    return told


def _says_anything(message: ModelMessage) -> bool:
    return message.role != "assistant" or bool(
        message.text.strip() or message.tool_calls or read_echo(WireFormat.OPENAI, message)
    )


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
            wire["reasoning_content"] = joined(message.reasoning)
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
