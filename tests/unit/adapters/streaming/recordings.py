"""Streams as bytes, made here or recorded elsewhere, and the turns they give."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from archivolt.adapters.chat_models import provider_format
from archivolt.adapters.streaming.formats import (
    BrokenTurnError,
    ProviderFormat,
    ReportedError,
)
from archivolt.adapters.streaming.sse import ChunkDecoder, UnreadableStreamError
from archivolt.ports.chat_model import ModelTurn, WireFormat

RECORDINGS = Path(__file__).parents[5] / "shared" / "data" / "streams"
FORMATS = {
    "oa": provider_format(WireFormat.OPENAI),
    "an": provider_format(WireFormat.ANTHROPIC),
    "ge": provider_format(WireFormat.GEMINI),
}
NO_TURN = (BrokenTurnError, ReportedError, UnreadableStreamError)
"""What a reader may say of a stream it cannot use."""


def assemble(wire: ProviderFormat, pieces: Iterable[bytes]) -> ModelTurn:
    """Return the turn that a reader makes of these bytes."""
    decoder, assembler = ChunkDecoder(), wire.assembler()
    read = [chunk for piece in pieces for chunk in decoder.feed(piece)] + decoder.close()
    shown = "".join(assembler.feed(chunk) for chunk in read) + assembler.close()
    turn = assembler.turn(ended=decoder.done)
    assert turn.text == shown
    return turn


def lines(*chunks: object) -> bytes:
    """Return chunks as server-sent events."""
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)


def recorded() -> list[dict[str, Any]]:
    """Return what is expected of each recording, nothing where there are none."""
    if not RECORDINGS.exists():
        return []
    return json.loads((RECORDINGS / "EXPECTED.json").read_text(encoding="utf-8"))


def read_recording(name: str) -> bytes:
    """Return a recording as it came over the wire."""
    raw = (RECORDINGS / name).read_bytes()
    if name.endswith(".sse"):
        return raw
    return b"".join(b"data: " + line + b"\n\n" for line in raw.splitlines())


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
