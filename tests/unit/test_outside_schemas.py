"""What of a stranger's schema reaches a provider: nothing that it would refuse all tools for."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from archivolt.domain.messages import Message
from archivolt.domain.outside_schemas import accepted_schema
from archivolt.domain.tool import Risk, ToolSpec

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


@pytest.mark.parametrize(
    ("given_schema", "expected"),
    [
        (
            {"properties": {"a": TEXT, "b": NUMBER}, "anyOf": [{"required": ["a"]}]},
            {"type": "object", "properties": {"a": TEXT, "b": NUMBER}},
        ),
        (
            {
                "oneOf": [
                    {"properties": {"url": TEXT}, "required": ["url"]},
                    {"allOf": [{"properties": {"text": TEXT}}]},
                ],
                "required": ["kind"],
                "properties": {"kind": TEXT},
            },
            {
                "type": "object",
                "properties": {"kind": TEXT, "url": TEXT, "text": TEXT},
                "required": ["kind"],
            },
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": TEXT}, "required": ["a"]}}},
            {
                "type": "object",
                "properties": {"a": TEXT},
                "required": ["a"],
                "$defs": {"A": {"properties": {"a": TEXT}, "required": ["a"]}},
            },
        ),
        (
            {"properties": {"a": {"type": "array"}, "b": {"type": ["array", "null"]}}},
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": {}},
                    "b": {"type": ["array", "null"], "items": {}},
                },
            },
        ),
        (
            {"properties": {"a": {"type": "array", "items": [TEXT, NUMBER]}, "type": TEXT}},
            {"type": "object", "properties": {"a": {"type": "array", "items": {}}, "type": TEXT}},
        ),
        (
            {
                "properties": {"$filter": TEXT, "ok": TEXT},
                "required": ["$filter", "ok", "ok", ["ok"]],
            },
            {"type": "object", "properties": {"ok": TEXT}, "required": ["ok"]},
        ),
        (
            {
                "properties": {
                    "a": {"type": "number", "exclusiveMinimum": True, "minimum": 1},
                    "b": {"type": "string", "required": True, "enum": [], "default": ["x"]},
                }
            },
            {
                "type": "object",
                "properties": {
                    "a": {"type": "number", "minimum": 1},
                    "b": {"type": "string", "default": ["x"]},
                },
            },
        ),
    ],
)
def test_what_a_provider_would_refuse_is_left_out(
    given_schema: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert accepted_schema(given_schema) == expected


def test_what_parts_of_the_root_say_differently_may_be_all_of_it() -> None:
    parts = [
        {"properties": {"k": {"const": "a"}, "same": TEXT}},
        {"properties": {"k": {"const": "b"}, "n": NUMBER, "same": TEXT}},
    ]

    told = accepted_schema({"oneOf": parts})["properties"]
    assert told == {"k": {"anyOf": [{"const": "a"}, {"const": "b"}]}, "n": NUMBER, "same": TEXT}
    held = accepted_schema({"oneOf": parts, "allOf": [{"properties": {"k": TEXT}}]})
    assert held["properties"]["k"] == TEXT


META: Any = Draft202012Validator(Draft202012Validator.META_SCHEMA)
NO_FORMS: dict[str, list[object]] = {
    "type": ["any", ["string", "none"], [], 7],
    "anyOf": [[], {}, ["string"]],
    "oneOf": [["string", "null"], TEXT],
    "allOf": [[], None],
    "required": ["a", ["a", "a"], [1]],
    "minimum": ["0", True],
    "multipleOf": [0, "1"],
    "minLength": ["1", -1, 1.5],
    "minItems": [-1, None],
    "uniqueItems": ["true"],
    "examples": ["a"],
    "title": [5],
    "$ref": [5],
    "$id": [5, "a#b"],
    "$anchor": ["1 a"],
    "$recursiveAnchor": [True],
    "$vocabulary": [{"a": 1}],
    "additionalProperties": [None, "no"],
    "items": [None, [TEXT]],
    "if": ["s"],
    "dependencies": [["a"], {"a": "b"}],
    "dependentSchemas": [{"a": ["b"]}],
    "$defs": [[1], {"a": 1}],
    "properties": [[], {"a": "string"}],
}


@pytest.mark.parametrize(
    ("keyword", "value"), [(name, each) for name, several in NO_FORMS.items() for each in several]
)
def test_a_keyword_in_a_form_that_is_none_is_no_part_of_what_is_told(
    keyword: str, value: object
) -> None:
    part = {"description": "d", keyword: value}
    written = {"properties": {"x": part, "y": {"type": "array", "items": part}}}

    told = accepted_schema(written)

    assert not META.is_valid(written)
    assert META.is_valid(told)
    assert told["properties"]["x"]["description"] == "d"


def test_what_is_forbidden_is_not_told_where_it_is_no_schema() -> None:
    part = {"not": {"type": "any"}, "if": {"minimum": "0"}, "then": False}

    told = accepted_schema({"properties": {"x": part, "y": {"not": TEXT}}})

    assert told["properties"] == {"x": {"then": False}, "y": {"not": TEXT}}


def test_a_schema_of_itself_and_one_without_end_are_no_error() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        deep = {"type": "object", "properties": {"a": deep}}

    assert accepted_schema({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}})
    assert accepted_schema(deep)["properties"]["a"]


WORDS = st.sampled_from(
    [
        *("type", "properties", "required", "items", "anyOf", "allOf", "$ref", "$defs", "enum"),
        *("exclusiveMinimum", "pattern", "not", "if", "oneOf", "minItems", "$id"),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["array", "object", "#/$defs/x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(WORDS, ANYTHING, max_size=5))
def test_whatever_a_stranger_writes_an_object_comes_of_it(written: dict[str, Any]) -> None:
    accepted = accepted_schema(written)

    assert accepted["type"] == "object"
    assert META.is_valid(accepted)
    assert not {"anyOf", "oneOf", "allOf", "not", "$ref", "enum"} & accepted.keys()
    assert set(accepted.get("required", ())) <= accepted["properties"].keys()
    assert accepted_schema(accepted) == accepted


@pytest.mark.parametrize("source", ["", "notion"])
def test_tools_of_others_alone_are_told_otherwise_than_they_are_held_to(source: str) -> None:
    parameters = {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}]}
    spec = ToolSpec(
        name="t",
        description="d",
        parameters=parameters,
        result={},
        risk=Risk.READ,
        requires_confirmation=False,
        scopes=frozenset(),
        label=Message("t", "t"),
        source=source,
    )

    assert ("anyOf" in spec.declaration["function"]["parameters"]) is (source == "")
    assert spec.parameters == parameters
