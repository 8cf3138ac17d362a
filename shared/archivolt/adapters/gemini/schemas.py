"""JSON Schema as Gemini takes it: a subset of OpenAPI's, without references.

What cannot be said is left out, never made stricter: arguments are checked against the whole schema
when a tool is called. Any schema can be given, a stranger's too: nothing of it is relied on.
"""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, cast

from archivolt.adapters.streaming.json_values import an_object, objects, text
from archivolt.domain.text_size import utf8_size
from archivolt.domain.tool import ROOM_TO_GROW, JsonObject

# Written out, a schema of itself doubles and more with each level: the deepest is taken that fits.
_DEPTHS: Final = (12, 8, 6, 4, 3, 2, 1, 0)
_MAX_PARTS: Final = 500
_MAX_ALL_OF: Final = 100
_TEXTS: Final = ("title", "description", "pattern")
_COUNTS: Final = (
    *("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
)
_NUMBERS: Final = ("minimum", "maximum")
_TAKEN: Final = (
    *(*_TEXTS, *_COUNTS, *_NUMBERS, "format", "type", "enum", "const"),
    *("items", "anyOf", "oneOf", "additionalProperties"),
)
_FORMATS: Final = frozenset({"date-time", "enum", "float", "double", "int32", "int64"})
_SIMPLE: Final = ("string", "number", "boolean")
_TYPES: Final = frozenset({*_SIMPLE, "integer", "array", "object"})


class _TooLongError(Exception):
    """So much is not worth its tokens, or more than was reserved for."""


def gemini_schema(schema: Mapping[str, Any]) -> JsonObject:
    """Return the schema of a tool's arguments, {} for a tool without any, or with one too long.

    It is never longer than its own with the room that a declaration of others has to grow.
    """
    definitions = an_object(schema.get("$defs")) or an_object(schema.get("definitions"))
    most = _size(schema) + ROOM_TO_GROW
    for depth in _DEPTHS:
        try:
            converted = _Converter(definitions, depth, most).convert(dict(schema), 0)
        except _TooLongError:
            continue
        if _size(converted) <= most:
            return converted if converted.get("properties") else {}
    return {}


def _size(schema: Mapping[str, Any]) -> int:
    return utf8_size(json.dumps(schema, ensure_ascii=False))


class _Converter:
    def __init__(self, definitions: JsonObject, max_depth: int, most: int) -> None:
        self._definitions = definitions
        self._max_depth = max_depth
        self._left = most
        self._parts = 0

    def convert(self, schema: JsonObject, depth: int) -> JsonObject:
        """Return one schema and all within it; below the depth, an object has no properties.

        Raises:
            _TooLongError: There is too much of it.

        """
        whole = self._whole(schema)
        converted = _kept(whole)
        self._take_type(whole, converted, depth)
        _take_enum(whole, converted)
        properties = an_object(whole.get("properties")) if depth <= self._max_depth else {}
        self._spend(converted, properties)
        if properties:
            converted["properties"] = {
                name: self.convert(an_object(each), depth + 1) for name, each in properties.items()
            }
            named = set(whole["required"])
            if required := [name for name in properties if name in named]:
                converted["required"] = required
        if converted.get("type") == "array":
            items = an_object(whole.get("items")) if depth <= self._max_depth + 1 else {}
            converted["items"] = self.convert(items, depth + 1)
        return converted

    def _spend(self, converted: JsonObject, properties: JsonObject) -> None:
        """Count a part, and about how long it is, so that nothing much too long is made first."""
        self._parts += 1
        named = [*properties, *converted.get("enum", ()), *map(converted.get, _TEXTS)]
        self._left -= sum(len(each) for each in named if each)
        if self._parts > _MAX_PARTS or self._left < 0:
            raise _TooLongError

    def _whole(self, schema: JsonObject) -> JsonObject:
        """Return a schema with what it refers to, in the end, and what it is all of.

        What is said nearer goes before; all properties count, and all that are required.
        """
        waiting, seen = [schema], set[str]()
        properties: JsonObject = {}
        required: list[str] = []
        whole: JsonObject = {}
        for _ in range(_MAX_ALL_OF):
            if not waiting:
                break
            part = waiting.pop()
            whole = {key: part[key] for key in _TAKEN if key in part} | whole
            properties = an_object(part.get("properties")) | properties
            required += _texts(part.get("required"))[:_MAX_PARTS]
            name = text(part.get("$ref")).rpartition("/")[2]
            if name and name not in seen:
                seen.add(name)
                waiting.append(an_object(self._definitions.get(name)))
            waiting += objects(part.get("allOf"))
        return {**whole, "properties": properties, "required": required}

    def _take_type(self, schema: JsonObject, converted: JsonObject, depth: int) -> None:
        """Say which types there are; null is a type of its own only here."""
        kinds: Any = schema.get("type")
        named = cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]
        types = [each for each in named if isinstance(each, str) and each in _TYPES]
        choices = objects(schema.get("anyOf")) or objects(schema.get("oneOf"))
        others = [each for each in choices if each.get("type") != "null"]
        if "null" in named or len(others) < len(choices):
            converted["nullable"] = True
        if depth > self._max_depth + 1:
            others = []
        if len(others) == 1:
            converted |= self.convert(others[0], depth + 1)
        elif others:
            converted["anyOf"] = [self.convert(each, depth + 1) for each in others]
        elif len(types) > 1:
            converted["anyOf"] = [self.convert({**schema, "type": t}, depth + 1) for t in types]
        elif kind := types[0] if types else _type_of(schema):
            converted["type"] = kind
        else:
            # Without a type, Gemini refuses the whole request.
            converted["anyOf"] = [{"type": each} for each in (*_SIMPLE, "object")]


def _kept(schema: JsonObject) -> JsonObject:
    """Return what Gemini takes as it is."""
    kept: JsonObject = {name: schema[name] for name in _TEXTS if text(schema.get(name))}
    kept |= {name: schema[name] for name in _COUNTS if type(schema.get(name)) is int}
    kept |= {name: schema[name] for name in _NUMBERS if _is_number(schema.get(name))}
    if text(schema.get("format")) in _FORMATS:
        kept["format"] = schema["format"]
    return kept


def _is_number(value: object) -> bool:
    return type(value) is int or (isinstance(value, float) and isfinite(value))


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        return []
    return [each for each in cast("list[Any]", value) if isinstance(each, str)]


def _allowed(schema: JsonObject) -> list[Any]:
    """Return the only values that a schema allows, nothing if there are others."""
    allowed: Any = schema.get("enum", [schema["const"]] if "const" in schema else None)
    return cast("list[Any]", allowed) if isinstance(allowed, list) else []


def _type_of(schema: JsonObject) -> str:
    """Return the type of a schema that names none, "" if it may be any."""
    if schema["properties"] or "additionalProperties" in schema:
        return "object"
    if "items" in schema:
        return "array"
    kinds: set[type[object]] = {type(each) for each in _allowed(schema) if each is not None}
    for kind, name in ((str, "string"), (bool, "boolean"), (int, "integer"), (float, "number")):
        if kinds == {kind}:
            return name
    return "number" if kinds == {int, float} else ""


def _take_enum(schema: JsonObject, converted: JsonObject) -> None:
    """Keep an enumeration of texts; of others, Gemini takes none."""
    values = _allowed(schema)
    if None in values:
        converted["nullable"] = True
    texts = [each for each in values if isinstance(each, str) and each]
    others = [each for each in values if each is not None]
    if texts and converted.get("type") == "string" and len(texts) == len(others):
        converted["enum"] = texts
