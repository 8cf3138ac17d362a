"""How text from documents and tools is shown to a model: as data, never as instructions.

The value travels as JSON in which no `<` can stand, so that no document can write the closing tag
and speak outside of its envelope.
"""

import json
import re
from typing import Any, cast

from archivolt.domain.tool import JsonObject

_SOURCE = re.compile(r"[^A-Za-z0-9_.-]+")
_ENVELOPE = re.compile(r'<data source="([A-Za-z0-9_.-]*)">\n([^<]*)\n</data>')


def wrap_data(source: str, value: JsonObject) -> str:
    """Return `value` in an envelope that names where it comes from."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    name = _SOURCE.sub("_", source)[:64]
    return f'<data source="{name}">\n{text.replace("<", chr(92) + "u003c")}\n</data>'


def unwrap_data(text: str) -> list[tuple[str, JsonObject]]:
    """Return the envelopes in `text`, in order: each source with its value."""
    found: list[tuple[str, JsonObject]] = []
    for source, body in _ENVELOPE.findall(text):
        value: Any = json.loads(body)
        if isinstance(value, dict):
            found.append((source, cast("JsonObject", value)))
    return found
