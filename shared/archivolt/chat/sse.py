"""Server-sent events: how a turn's events are written on the wire (WHATWG HTML §9.2).

Each event is its name and one line of JSON; a comment line keeps the connection awake.
"""

import json

from archivolt.domain.stream import StreamEvent

HEARTBEAT = b": keep-alive\n\n"


def encode_event(event: StreamEvent) -> bytes:
    """Return one event as UTF-8; JSON escapes line ends, so that `data:` is always one line.

    A lone surrogate, which no UTF-8 can carry, becomes a question mark.
    """
    data = json.dumps(event.payload(), ensure_ascii=False, separators=(",", ":"))
    return f"event: {event.event}\ndata: {data}\n\n".encode("utf-8", "replace")
