"""Server-sent events: how a turn's events are written on the wire (WHATWG HTML §9.2).

Each event is its name and one line of JSON; a comment line keeps the connection awake.
"""

import json
from typing import Final

from archivolt.domain.stream import StreamEvent
from archivolt.domain.tool import JsonObject

HEARTBEAT: Final = b": keep-alive\n\n"
EVENT_STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def encode_event(event: StreamEvent) -> bytes:
    """Return one event of a turn on the wire."""
    return encoded(event.event, event.payload())


def encoded(name: str, payload: JsonObject, number: int | None = None) -> bytes:
    """Return one event as UTF-8; JSON escapes line ends, so that `data:` is always one line.

    A reader that comes back sends the last `number`. A lone surrogate, which no UTF-8 can carry,
    becomes a question mark.
    """
    data = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    numbered = "" if number is None else f"id: {number}\n"
    return f"{numbered}event: {name}\ndata: {data}\n\n".encode("utf-8", "replace")
