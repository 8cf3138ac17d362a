"""The base classes of what tools take and give, and their JSON Schemas.

A schema here is plain JSON Schema 2020-12 that any model provider and any MCP client understands:
the root is an object, nothing is referred to by `$ref`, no generated titles, and an optional
argument is one that may be left out rather than a union with null.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, model_validator

Schema = dict[str, Any]


class ToolInput(BaseModel):
    """The arguments of a tool, as lenient as language models need and no more.

    Numbers and booleans written as text are read; a list or an object written as JSON text is
    read where the parameter is one; null, and empty text for an optional text, count as left out.
    A text parameter always keeps the text it was given.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, coerce_numbers_to_str=True, hide_input_in_errors=True
    )

    @model_validator(mode="before")
    @classmethod
    def _read_leniently(cls, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        arguments = cast("Mapping[str, Any]", raw)
        kinds = cls.kinds()
        return {
            name: _decoded(value, kinds.get(name))
            for name, value in arguments.items()
            if not cls._is_left_out(name, value)
        }

    @classmethod
    def _is_left_out(cls, name: str, value: object) -> bool:
        field = cls.model_fields.get(name)
        if field is None or field.is_required():
            return False
        return value is None or (value == "" and field.default is None)

    @classmethod
    def kinds(cls) -> Mapping[str, str | None]:
        """Return the JSON type of each parameter that has a single one."""
        properties = input_schema(cls)["properties"]
        return {name: schema.get("type") for name, schema in properties.items()}


class ToolOutput(BaseModel):
    """What a tool gives back: always an object."""

    model_config = ConfigDict(frozen=True)


def _decoded(value: object, kind: str | None) -> object:
    wanted = {"array": list, "object": dict}.get(kind or "")
    if wanted is None or not isinstance(value, str):
        return value
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    return cast("object", decoded) if isinstance(decoded, wanted) else value


_INPUT_SCHEMAS: dict[type[BaseModel], Schema] = {}


def input_schema(model: type[ToolInput]) -> Schema:
    """Return the JSON Schema of a tool's arguments; it is made once and must not be changed."""
    if model not in _INPUT_SCHEMAS:
        schema = _plain(model)
        schema["properties"] = {
            name: _without_null(property_) for name, property_ in schema["properties"].items()
        }
        _INPUT_SCHEMAS[model] = schema | {"additionalProperties": False}
    return _INPUT_SCHEMAS[model]


def result_schema(model: type[ToolOutput]) -> Schema:
    """Return the JSON Schema of a tool's result, truncated results included."""
    return _plain(model)


def _plain(model: type[BaseModel]) -> Schema:
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    plain = cast("Schema", _inlined(schema, definitions))
    plain.pop("description", None)  # the class docstring is for people who read the code
    empty: Schema = {"type": "object", "properties": {}}
    return empty | plain


def _inlined(node: object, definitions: Mapping[str, Schema]) -> object:
    """Return `node` with references replaced by what they refer to, and titles dropped."""
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("Schema", node)
    if "$ref" in schema:
        definition = definitions[str(schema["$ref"]).rpartition("/")[2]]
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return _inlined(definition | own, definitions)
    return {
        key: _properties(value, definitions)
        if key == "properties"
        else _inlined(value, definitions)
        for key, value in schema.items()
        if key != "title"
    }


def _properties(properties: Mapping[str, object], definitions: Mapping[str, Schema]) -> Schema:
    return {name: _inlined(schema, definitions) for name, schema in properties.items()}


def _without_null(schema: Schema) -> Schema:
    """Return the schema of an optional argument as that of the argument when it is given."""
    given = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    if len(given) != 1:
        return schema
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
    return cast("Schema", given[0]) | rest
