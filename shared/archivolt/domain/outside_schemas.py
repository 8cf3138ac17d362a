"""Schemas of tools of others, as every provider of models takes them.

A provider that refuses one tool's schema refuses every request that offers it, whatever is asked.
What cannot be said to all is left out, never made stricter: arguments are held to the whole schema
when the tool is called.
"""

import re
from collections.abc import Callable, Mapping
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
_KINDS: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_ID: Final = re.compile(r"[^#]*#?")
_ANCHOR: Final = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SINGLE: Final = (
    *("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
)
_SEVERAL: Final = (*_CHOICES, "allOf", "prefixItems")
# What became looser in these makes the whole stricter.
_TURNED_ROUND: Final = frozenset({"not", "if"})


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
    certain: JsonObject = {}
    chosen: dict[str, list[Any]] = {}
    required: list[Any] = []
    waiting, seen = [(schema, True)], set[str]()
    for _ in range(_MAX_PARTS):
        if not waiting:
            break
        part, always = waiting.pop(0)
        own = _object(part.get("properties"))
        if always:
            certain = own | certain
        for each in own:
            chosen.setdefault(each, []).append(own[each])
        required += _list(part.get("required")) if always else []
        name = str(part.get("$ref", "")).rpartition("/")[2]
        if name and name not in seen:
            seen.add(name)
            waiting.append((_object(definitions.get(name)), always))
        waiting += [(_object(each), always) for each in _list(part.get("allOf"))]
        for word in _CHOICES:
            waiting += [(_object(each), False) for each in _list(part.get(word))]
    kept = {name: each for name, each in schema.items() if name not in _NOT_AT_THE_ROOT}
    properties = {name: _any_of(several) for name, several in chosen.items()} | certain
    return kept | {"properties": properties, "required": required}


def _any_of(several: list[Any]) -> JsonObject:
    """Return what a property may be of which parts say different things."""
    told: list[JsonObject] = []
    for each in map(_object, several):
        if each not in told:
            told.append(each)
    return told[0] if len(told) == 1 else {"anyOf": told}


def _accepted(schema: JsonObject, depth: int) -> JsonObject:
    """Return a schema without what is none, and with items wherever there is a list."""
    if depth > _MAX_DEPTH:
        return {}
    read = {name: _within(name, each, depth) for name, each in schema.items() if _fits(name, each)}
    stricter = {name for name in _TURNED_ROUND & read.keys() if read[name] != schema[name]}
    kept = {name: each for name, each in read.items() if name not in stricter}
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
    if name in _SEVERAL:
        return [_one(each, depth) for each in _list(value)]
    if name == "required":
        return list(dict.fromkeys(each for each in _list(value) if isinstance(each, str)))
    return list(dict.fromkeys(_list(value))) if name == "type" and _list(value) else value


def _one(value: object, depth: int) -> object:
    schema = _object(value)
    return _accepted(schema, depth + 1) if schema else value


def _fits(name: str, value: object) -> bool:
    """Tell whether a keyword has the form that it has in today's draft; else it says nothing."""
    form = _FORMS.get(name)
    return form is None or form(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_anchor(value: object) -> bool:
    return isinstance(value, str) and _ANCHOR.fullmatch(value) is not None


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_step(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _has_values(value: object) -> bool:
    return bool(_list(value))


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_schema(value: object) -> bool:
    return isinstance(value, (dict, bool))


def _are_schemas(value: object) -> bool:
    return _has_values(value) and all(map(_is_schema, _list(value)))


def _is_kind(value: object) -> bool:
    kinds = _list(value) or [value]
    return all(isinstance(each, str) and each in _KINDS for each in kinds)


def _are_names(value: object) -> bool:
    names = _list(value)
    return isinstance(value, list) and all(map(_is_text, names)) and len(set(names)) == len(names)


def _names_by_name(value: object) -> bool:
    return _is_object(value) and all(map(_are_names, _object(value).values()))


def _never(_: object) -> bool:
    return False


# What words of older drafts, and slips, have in them is no schema of today's.
_FORMS: Final[Mapping[str, Callable[[object], bool]]] = {
    **dict.fromkeys(("$schema", "$ref", "$dynamicRef", "$recursiveRef", "$comment"), _is_text),
    **dict.fromkeys(("title", "description", "pattern", "format"), _is_text),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _is_text),
    "$id": _is_id,
    **dict.fromkeys(("$anchor", "$dynamicAnchor", "$recursiveAnchor"), _is_anchor),
    "$vocabulary": _never,
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _is_flag),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    "multipleOf": _is_step,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minContains", "maxContains", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("required", "examples"), _is_list),
    "enum": _has_values,
    "type": _is_kind,
    **dict.fromkeys(("dependentRequired", "dependencies"), _names_by_name),
    **dict.fromkeys(_NAMED, _is_object),
    **dict.fromkeys(_SINGLE, _is_schema),
    **dict.fromkeys(_SEVERAL, _are_schemas),
}


def _is_key(name: str) -> bool:
    return _KEY.fullmatch(name) is not None


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
