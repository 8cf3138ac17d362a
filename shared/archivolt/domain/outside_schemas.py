"""Schemas of tools of others, as every provider of models takes them.

A provider that refuses one tool's schema refuses every request that offers it, whatever is asked.
What cannot be said to all is left out, never made stricter: arguments are held to the whole schema
when the tool is called.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

JsonObject = dict[str, Any]

_MAX_PARTS: Final = 100
_MAX_DEPTH: Final = 30
_CHOICES: Final = ("anyOf", "oneOf")
# None takes these at the root.
_NOT_AT_THE_ROOT: Final = frozenset(
    {*_CHOICES, "allOf", "not", "if", "then", "else", "enum", "const", "$ref"}
)
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# What words of older drafts, and slips, have in them is no schema of today's.
_FORMS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "required": list,
    "enum": list,
    "properties": dict,
    "description": str,
    "pattern": str,
    "format": str,
    "type": (str, list),
}
_BOUNDS: Final = frozenset({"exclusiveMinimum", "exclusiveMaximum"})
_NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_SINGLE: Final = frozenset({"items", "additionalProperties", "not", "contains"})
_SEVERAL: Final = frozenset({*_CHOICES, "allOf", "prefixItems"})


def accepted_schema(schema: Mapping[str, Any]) -> JsonObject:
    """Return the schema of a tool's arguments in a form that no provider refuses."""
    root = _at_the_root(dict(schema))
    accepted = _accepted(root, 0)
    properties = {
        name: each for name, each in _object(accepted.get("properties")).items() if _is_key(name)
    }
    named = [name for name in _list(accepted.get("required")) if isinstance(name, str)]
    required = [name for name in dict.fromkeys(named) if name in properties]
    rest = {name: each for name, each in accepted.items() if name != "required"}
    told: JsonObject = {**rest, "type": "object", "properties": properties}
    return told | {"required": required} if required else told


def _at_the_root(schema: JsonObject) -> JsonObject:
    """Return a schema whose root is one object: with the properties of all that it may be."""
    if _NOT_AT_THE_ROOT.isdisjoint(schema):
        return schema
    definitions = _object(schema.get("definitions")) | _object(schema.get("$defs"))
    properties: JsonObject = {}
    required: list[Any] = []
    waiting, seen = [(schema, True)], set[str]()
    for _ in range(_MAX_PARTS):
        if not waiting:
            break
        part, always = waiting.pop(0)
        own = _object(part.get("properties"))
        properties |= {name: own[name] for name in own if name not in properties}
        required += _list(part.get("required")) if always else []
        name = str(part.get("$ref", "")).rpartition("/")[2]
        if name and name not in seen:
            seen.add(name)
            waiting.append((_object(definitions.get(name)), always))
        waiting += [(_object(each), always) for each in _list(part.get("allOf"))]
        for word in _CHOICES:
            waiting += [(_object(each), False) for each in _list(part.get(word))]
    kept = {name: each for name, each in schema.items() if name not in _NOT_AT_THE_ROOT}
    return kept | {"properties": properties, "required": required}


def _accepted(schema: JsonObject, depth: int) -> JsonObject:
    """Return a schema without what is none, and with items wherever there is a list."""
    if depth > _MAX_DEPTH:
        return {}
    kept = {name: _within(name, each, depth) for name, each in schema.items() if _fits(name, each)}
    kinds = kept.get("type")
    is_list = kinds == "array" or (isinstance(kinds, list) and "array" in kinds)
    if (is_list or "items" in kept) and not isinstance(kept.get("items"), dict):
        kept["items"] = {}
    return kept


def _within(name: str, value: object, depth: int) -> object:
    if name in _NAMED:
        return {key: _accepted(_object(each), depth + 1) for key, each in _object(value).items()}
    if name in _SINGLE:
        return _one(value, depth)
    return [_one(each, depth) for each in _list(value)] if name in _SEVERAL else value


def _one(value: object, depth: int) -> object:
    schema = _object(value)
    return _accepted(schema, depth + 1) if schema else value


def _fits(name: str, value: object) -> bool:
    if name in _BOUNDS and isinstance(value, bool):
        return False
    if name == "enum" and not value:
        return False
    return not (name in _FORMS and not isinstance(value, _FORMS[name]))


def _is_key(name: str) -> bool:
    return _KEY.fullmatch(name) is not None


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
