"""Arguments held to a stranger's schema: nothing is fetched, and no pattern of theirs is run.

What a schema says by regular expressions is left to the server, which checks its arguments itself.
So is what refers to itself so often that it would take for ever.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend, validator_for  # pyright: ignore[reportUnknownVariableType]
from referencing import Registry
from referencing.exceptions import Unresolvable

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.tool import JsonObject

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_MAX_PROBLEMS: Final = 5
_MAX_SAID: Final = 200
# Keywords whose keys are names and not keywords.
_OF_NAMES: Final = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
_OF_VALUES: Final = frozenset({"const", "enum", "default", "examples"})
_BY_PATTERN: Final = frozenset({"pattern", "patternProperties", "format"})
# They follow references in ways that cannot be counted.
_BY_LOOKING_ROUND: Final = frozenset(
    {"$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"}
)
# The root alone tells it: what tells another within is checked by a kind that counts nothing.
_DRAFT: Final = "$schema"
# Stricter where what is in them is looser.
_TURNED_ROUND: Final = frozenset({"not", "if", "disallow", "oneOf", "contains"})
_MAX_REFERENCES: Final = 5_000
# These tell the value; the others tell the rule.
_SAFE: Final = frozenset({"required", "additionalProperties", "dependentRequired"})


class JsonSchemaArguments:
    """An `ArgumentSchemas` by `jsonschema`."""

    def read(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> JsonObject:
        """Return arguments as the schema takes them."""
        given = _leniently(schema, arguments)
        try:
            plain = _plain(dict(schema))
            kind = _counting(validator_for(schema, default=Draft202012Validator))
            checker: Validator = kind(plain, registry=Registry())
            _followed.count = 0
            problems = list(checker.iter_errors(given))
        except _SAYING_NOTHING:
            return given  # the server knows better
        if problems:
            told = "; ".join(_told(problems[:_MAX_PROBLEMS]))
            raise InvalidRequestError("invalid_arguments", problem=told)
        return given


class _EndlessError(Exception):
    """References are followed without end: each of two may lead to two others."""


class _Followed(threading.local):
    count = 0


_followed: Final = _Followed()
# What a schema fails with that says nothing.
_SAYING_NOTHING: Final = (
    _EndlessError,
    Unresolvable,
    RecursionError,
    AttributeError,
    TypeError,
    KeyError,
    ValueError,
)


@cache
def _counting(kind: "type[Validator]") -> "type[Validator]":
    """Return a kind of validator that follows so many references and no more."""
    follow: Any = kind.VALIDATORS.get("$ref")

    def counted(
        validator: "Validator", reference: object, instance: object, schema: object
    ) -> Iterator[ValidationError]:
        _followed.count += 1
        if _followed.count > _MAX_REFERENCES:
            raise _EndlessError
        yield from follow(validator, reference, instance, schema) or ()

    return cast("type[Validator]", extend(kind, {"$ref": counted})) if follow else kind


def _told(problems: Iterable[ValidationError]) -> list[str]:
    return [f"{_where(problem)}{_rule(problem)}"[:_MAX_SAID] for problem in problems]


def _where(problem: ValidationError) -> str:
    path = ".".join(str(part) for part in problem.absolute_path)
    return f"{path}: " if path else ""


def _rule(problem: ValidationError) -> str:
    if problem.validator in _SAFE:
        return problem.message
    expected = json.dumps(problem.validator_value, ensure_ascii=False, default=str)
    return f"{problem.validator} {expected}"


def _plain(schema: JsonObject) -> JsonObject:
    """Return a schema that says nothing by patterns, and is nowhere stricter for that."""
    plain = _without_patterns(schema, doubted=False)
    if plain != {name: each for name, each in schema.items() if name != _DRAFT}:
        plain = _without_patterns(schema, doubted=True)
    return cast("JsonObject", plain)


def _without_patterns(schema: object, *, doubted: bool) -> object:
    """Return a schema without what it says by patterns; what hangs on one goes with it.

    `doubted`: a reference may lead to what said something by patterns.
    """
    if isinstance(schema, list):
        return [_without_patterns(each, doubted=doubted) for each in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    given = cast("dict[str, object]", schema)
    dropped = _BY_PATTERN | _BY_LOOKING_ROUND | {_DRAFT}
    if "patternProperties" in given:
        dropped |= {"additionalProperties"}
    kept: dict[str, object] = {}
    for name, value in given.items():
        if name in _OF_NAMES and isinstance(value, dict):
            named = cast("dict[str, object]", value)
            kept[name] = {
                each: _without_patterns(inner, doubted=doubted) for each, inner in named.items()
            }
        elif name in _OF_VALUES:
            kept[name] = value
        elif name not in dropped:
            kept[name] = _without_patterns(value, doubted=doubted)
    loosened = {
        name
        for name in _TURNED_ROUND & kept.keys()
        if kept[name] != given[name] or (doubted and _refers(given[name]))
    }
    return _never_stricter(kept, loosened) if loosened else kept


def _refers(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_refers, cast("list[object]", value)))
    if not isinstance(value, dict):
        return False
    within = cast("dict[str, object]", value)
    return "$ref" in within or any(map(_refers, within.values()))


def _never_stricter(schema: dict[str, object], loosened: set[str]) -> dict[str, object]:
    """Return a schema without what became stricter as the parts of these keywords were loosened."""
    dropped = {"maxContains" if name == "contains" else name for name in loosened}
    kept = {name: each for name, each in schema.items() if name not in dropped}
    if "oneOf" not in loosened:
        return kept
    others = kept.get("allOf")
    every = cast("list[object]", others) if isinstance(others, list) else []
    return {**kept, "allOf": [*every, {"anyOf": schema["oneOf"]}]}


def _leniently(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> JsonObject:
    """Return arguments with numbers, lists and objects read that a model wrote as text."""
    properties: Any = schema.get("properties")
    known = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    named: Any = schema.get("required")
    required = cast("list[Any]", named) if isinstance(named, list) else []
    read: JsonObject = {}
    for name, value in arguments.items():
        kind = known[name].get("type") if isinstance(known.get(name), dict) else None
        if value is None and kind is not None and kind != "null" and name not in required:
            continue
        read[name] = _decoded(value, kind)
    return read


_DECODED: Final[Mapping[str, tuple[type, ...]]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _decoded(value: object, kind: object) -> object:
    wanted = _DECODED.get(kind) if isinstance(kind, str) else None
    if wanted is None or not isinstance(value, str):
        return value
    try:
        decoded: object = json.loads(value)
    except (ValueError, RecursionError):
        return value
    fits = isinstance(decoded, wanted) and isinstance(decoded, bool) == (kind == "boolean")
    return cast("object", decoded) if fits else value
