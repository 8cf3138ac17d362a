"""Answers in Anthropic's and Gemini's formats, as bytes and as replies of the loopback server."""

import json
from typing import Any

from tests.fakes.openai_server import Reply


def lines(*chunks: object) -> bytes:
    """Return chunks as server-sent events."""
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)


def anthropic_stream(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str) -> bytes:
    """Return a message of blocks, each how it begins and its deltas."""
    counted = {"input_tokens": 7, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"role": "assistant", "usage": counted}}
    ]
    for index, (begun, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        events.extend(
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        )
        events.append({"type": "content_block_stop", "index": index})
    usage = {"output_tokens": 3}
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage})
    return lines(*events, {"type": "message_stop"})


def gemini_stream(*parts: dict[str, Any], finish: str | None = "STOP") -> bytes:
    """Return an answer of parts, a chunk for each."""
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts
    ]
    if finish is not None:
        usage = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}
        chunks.append({"candidates": [{"finishReason": finish}], "usageMetadata": usage})
    return lines(*chunks)


def anthropic_text(text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a block of text, in two pieces."""
    middle = len(text) // 2
    pieces = (text[:middle], text[middle:])
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": each} for each in pieces]


def anthropic_call(
    name: str, arguments: str, call_id: str = "toolu_1"
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a block that calls a tool, its arguments in pieces of three characters."""
    pieces = [arguments[at : at + 3] for at in range(0, len(arguments), 3)]
    begun: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return begun, [{"type": "input_json_delta", "partial_json": each} for each in pieces]


def anthropic_says(text: str) -> Reply:
    """Return an answer of plain text."""
    return Reply(pieces=[anthropic_stream(anthropic_text(text), stop="end_turn")])


def anthropic_calls(name: str, arguments: dict[str, Any]) -> Reply:
    """Return an answer that thinks, and calls a tool."""
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = [
        {"type": "thinking_delta", "thinking": "Hm."},
        {"type": "signature_delta", "signature": "signed-by-anthropic"},
    ]
    call = anthropic_call(name, json.dumps(arguments))
    return Reply(pieces=[anthropic_stream((thought, deltas), call, stop="tool_use")])


def gemini_says(text: str) -> Reply:
    """Return an answer of plain text."""
    return Reply(pieces=[gemini_stream({"text": text})])


def gemini_calls(name: str, arguments: dict[str, Any]) -> Reply:
    """Return an answer that calls a tool, signed."""
    called = {"functionCall": {"name": name, "args": arguments}}
    return Reply(pieces=[gemini_stream(called | {"thoughtSignature": "signed-by-google"})])
