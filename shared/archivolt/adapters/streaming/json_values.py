"""Reads JSON of which nothing is promised: providers' chunks have shapes nobody documented."""

import re
from typing import Any, cast

from archivolt.domain.tool import JsonObject

_SURROGATE = re.compile("[\ud800-\udfff]")


def an_object(value: object) -> JsonObject:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[JsonObject]:
    """Return the JSON objects in `value` if it is a list, else nothing."""
    if not isinstance(value, list):
        return []
    return [cast("JsonObject", item) for item in cast("list[Any]", value) if isinstance(item, dict)]


def text(value: object) -> str:
    """Return `value` if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """Return `value` if it is a whole number that counts something, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def joined(piece: str) -> str:
    """Return text whose surrogate pairs, cut apart by JSON escapes, are characters again."""
    if not _SURROGATE.search(piece):
        return piece
    return piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
