"""Streams that were recorded elsewhere, and the turns that readers make of streams."""

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
from archivolt.domain.providers import WireFormat
from archivolt.ports.chat_model import ModelTurn

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
