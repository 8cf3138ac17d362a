"""What is sent to `/chat/completions`."""

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
    told = [each for each in valid_pairs(request.messages) if each.role != "system"]
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
