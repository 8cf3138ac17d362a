"""JSON Schema as Gemini takes it: a subset of OpenAPI's, without references.

What cannot be said is left out, never made stricter: arguments are checked against the whole schema
when a tool is called.
"""

from collections.abc import Mapping
from typing import Any, cast

from archivolt.adapters.streaming.json_values import an_object, objects, text
from archivolt.domain.tool import JsonObject

# Written out, a schema of itself doubles and more with each level: the deepest is taken that fits.
_DEPTHS = (12, 8, 6, 4, 3, 2, 1)
_MAX_PARTS = 500
_KEPT = (
    *("title", "description", "minItems", "maxItems", "minimum", "maximum"),
    *("minLength", "maxLength", "pattern", "minProperties", "maxProperties"),
)
_FORMATS = frozenset({"date-time", "enum", "float", "double", "int32", "int64"})
_SIMPLE = frozenset({"string", "number", "integer", "boolean"})
_TYPES = _SIMPLE | {"array", "object"}


class _TooManyPartsError(Exception):
    """So much is not worth its tokens."""


def gemini_schema(schema: Mapping[str, Any]) -> JsonObject:
    """Return the schema of a tool's arguments, {} for a tool without any."""
    definitions = an_object(schema.get("$defs")) or an_object(schema.get("definitions"))
    for depth in _DEPTHS:
        try:
            converted = _Converter(definitions, depth).convert(dict(schema), 0)
        except _TooManyPartsError:
            continue
        return converted if converted.get("properties") else {}
    return {}


class _Converter:
    def __init__(self, definitions: JsonObject, max_depth: int) -> None:
        self._definitions = definitions
        self._max_depth = max_depth
        self._parts = 0

    def convert(self, schema: JsonObject, depth: int) -> JsonObject:
        """Return one schema and all within it; below the depth, any object for what has parts."""
        schema = self._whole(schema)
        self._parts += 1
        if self._parts > _MAX_PARTS and self._max_depth > _DEPTHS[-1]:
            raise _TooManyPartsError
        if depth > self._max_depth and _has_parts(schema):
            return {"type": "object"}
        converted: JsonObject = {name: schema[name] for name in _KEPT if name in schema}
        if schema.get("format") in _FORMATS:
            converted["format"] = schema["format"]
        self._take_type(schema, converted, depth)
        _take_enum(schema, converted)
        if properties := an_object(schema.get("properties")):
            converted["properties"] = {
                name: self.convert(an_object(each), depth + 1) for name, each in properties.items()
            }
            if required := [each for each in schema.get("required", []) if each in properties]:
                converted["required"] = required
        if converted.get("type") == "array":
            converted["items"] = self.convert(an_object(schema.get("items")), depth + 1)
        return converted

    def _whole(self, schema: JsonObject, seen: frozenset[str] = frozenset()) -> JsonObject:
        """Return a schema with what it refers to, in the end, and what it is all of."""
        name = text(schema.get("$ref")).rpartition("/")[2]
        parts = objects(schema.get("allOf"))
        if name:
            parts.insert(0, an_object(self._definitions.get(name)))
        rest = {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}
        whole: JsonObject = {}
        for part in parts:
            whole |= part
        if "$ref" in whole and name not in seen:
            whole = self._whole(whole, seen | {name})
        whole.pop("$ref", None)
        return whole | rest

    def _take_type(self, schema: JsonObject, converted: JsonObject, depth: int) -> None:
        """Say which types there are; null is a type of its own only here."""
        kinds: Any = schema.get("type")
        named = cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]
        types = [each for each in named if each in _TYPES]
        choices = objects(schema.get("anyOf")) or objects(schema.get("oneOf"))
        others = [each for each in choices if each.get("type") != "null"]
        if "null" in named or len(others) < len(choices):
            converted["nullable"] = True
        if len(others) == 1:
            converted |= self.convert(others[0], depth + 1)
        elif others:
            converted["anyOf"] = [self.convert(each, depth + 1) for each in others]
        elif len(types) > 1:
            converted["anyOf"] = [self.convert({**schema, "type": t}, depth + 1) for t in types]
        else:
            converted["type"] = types[0] if types else _type_of(schema)


def _has_parts(schema: JsonObject) -> bool:
    """Tell whether there may be schemas within a schema."""
    choices = objects(schema.get("anyOf")) or objects(schema.get("oneOf"))
    return bool(choices) or all(schema.get("type") != simple for simple in _SIMPLE)


def _type_of(schema: JsonObject) -> str:
    """Return the type of a schema that names none."""
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def _take_enum(schema: JsonObject, converted: JsonObject) -> None:
    """Keep an enumeration of texts; of others, Gemini takes none."""
    allowed: Any = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if not isinstance(allowed, list):
        return
    values = cast("list[Any]", allowed)
    if None in values:
        converted["nullable"] = True
    texts = [each for each in values if isinstance(each, str) and each]
    if converted.get("type") == "string" and len(texts) == len(
        [v for v in values if v is not None]
    ):
        converted["enum"] = texts
