"""Writes and reads `ModelTurn.echo`: a list of items in order, under the name of their format.

An item may have `call`, the place of a call in `tool_calls`: names and ids are the message's own.
"""

import json
from collections.abc import Sequence

from archivolt.adapters.streaming.json_values import an_object, objects
from archivolt.domain.providers import WireFormat
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelMessage


def write_echo(wire_format: WireFormat, items: Sequence[JsonObject]) -> str:
    """Return the items as text; "" for none."""
    if not items:
        return ""
    return json.dumps({"format": wire_format.value, "items": list(items)})


def read_echo(wire_format: WireFormat, message: ModelMessage) -> list[JsonObject]:
    """Return the items of a message's echo: none from another format, or about other calls."""
    if not message.echo:
        return []
    kept = an_object(json.loads(message.echo))
    items = objects(kept.get("items")) if kept.get("format") == wire_format.value else []
    places = [item["call"] for item in items if "call" in item]
    return items if all(place < len(message.tool_calls) for place in places) else []


def join_echoes(first: str, second: str) -> str:
    """Return the echo of a turn that came in two parts, the first without calls."""
    if not (first and second):
        return first or second
    before, after = json.loads(first), json.loads(second)
    return json.dumps({**after, "items": [*before["items"], *after["items"]]})
