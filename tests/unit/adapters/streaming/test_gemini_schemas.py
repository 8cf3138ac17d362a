"""Schemas of strangers as Gemini is given them: of any shape, and never longer than measured."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.adapters.gemini.format import GeminiFormat
from archivolt.adapters.gemini.schemas import gemini_schema
from archivolt.adapters.streaming.declarations import as_mcp_tool
from archivolt.domain.text_size import utf8_size
from archivolt.domain.tool import OutsideDeclaration
from archivolt.tools.catalogue import native_tools
from archivolt.tools.registry import Tool

Given = st.SearchStrategy[object]
ANY = {"anyOf": [{"type": each} for each in ("string", "number", "boolean", "object")]}
JUNK: Given = st.sampled_from([None, True, 7, "x", [], [1], {}, {"a": 1}, ["null", "string"], 1.5])
REFERENCE: Given = st.sampled_from([{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}])
KINDS: Given = st.sampled_from(
    ["string", "object", "array", ["string", "null"], ["object", "integer"]]
)


def _around(inner: Given) -> Given:
    several = st.lists(inner, max_size=3)
    parts: dict[str, Given] = {
        "type": KINDS | JUNK,
        "properties": st.dictionaries(st.sampled_from("abcde"), inner, max_size=4) | JUNK,
        "items": inner | JUNK,
        "required": st.just(["a", "b"]) | JUNK,
        "anyOf": several | JUNK,
        "allOf": several | JUNK,
        "enum": JUNK,
        "description": st.just("é" * 90) | JUNK,
        "minimum": JUNK,
        "format": JUNK,
        "$ref": st.just("#/$defs/A") | JUNK,
    }
    return st.fixed_dictionaries({}, optional=parts)


ANYTHING: Given = st.recursive(
    REFERENCE | KINDS.map(lambda kind: {"type": kind}), _around, max_leaves=8
)


def declared(parameters: dict[str, Any]) -> OutsideDeclaration:
    function = {"name": "t", "description": "", "parameters": parameters}
    return OutsideDeclaration(type="function", function=function)


def sent(declaration: dict[str, Any]) -> str:
    wire = GeminiFormat().declaration(as_mcp_tool(declaration))
    return json.dumps(wire, ensure_ascii=False)


@settings(max_examples=60)
@given(properties=st.dictionaries(st.sampled_from("abc"), ANYTHING), a=ANYTHING, b=ANYTHING)
def test_no_schema_is_longer_as_it_is_sent_than_it_was_measured(
    properties: dict[str, object], a: object, b: object
) -> None:
    tool = declared({"type": "object", "properties": properties, "$defs": {"A": a, "B": b}})

    assert utf8_size(sent(tool)) <= tool.size


@pytest.mark.parametrize("tool", list(native_tools()), ids=lambda tool: tool.spec.name)
def test_our_own_tools_are_sent_whole_within_their_size(tool: Tool) -> None:
    text = sent(tool.spec.declaration)

    assert utf8_size(text) <= tool.spec.declaration.size
    assert ("parameters" in text) == bool(tool.spec.parameters.get("properties"))


def test_a_long_text_that_is_referred_to_often_is_not_sent_often() -> None:
    text = {"type": "string", "description": "x" * 60_000}
    tool = declared(
        {
            "properties": {f"p{n}": {"$ref": "#/$defs/T"} for n in range(490)},
            "$defs": {"T": text},
        }
    )

    assert utf8_size(sent(tool)) <= tool.size


def test_a_long_chain_of_references_is_no_error() -> None:
    chain = {f"D{n}": {"$ref": f"#/$defs/D{n + 1}"} for n in range(1_500)}

    converted = gemini_schema({"properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": chain})

    assert converted == {"type": "object", "properties": {"a": ANY}}


@pytest.mark.parametrize("required", [None, True, "a", {"a": 1}, [["a"], {}, None, "a"]])
def test_what_is_required_counts_where_it_is_a_name(required: object) -> None:
    converted = gemini_schema({"properties": {"a": {"type": "string"}}, "required": required})

    assert converted.pop("required", []) == (["a"] if isinstance(required, list) else [])
    assert converted == {"type": "object", "properties": {"a": {"type": "string"}}}


def test_at_the_cut_only_objects_lose_what_they_are_made_of() -> None:
    again = {"$ref": "#/$defs/N"}
    parts: dict[str, Any] = {
        "text": {"type": ["string", "null"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "one": {"enum": ["x", "y"]},
        "more": {"type": "object", "properties": dict.fromkeys("abcdefgh", again)},
    }
    node = {"type": "object", "properties": parts, "description": "n" * 2_000}

    converted = gemini_schema({"properties": parts, "$defs": {"N": node}})

    assert converted["properties"] == {
        "text": {"nullable": True, "type": "string"},
        "names": {"type": "array", "items": {"type": "string"}},
        "one": {"type": "string", "enum": ["x", "y"]},
        "more": {"type": "object"},
    }


def test_all_of_two_references_has_what_both_have() -> None:
    first = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    second = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
    schema = {
        "allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
        "$defs": {"A": first, "B": second},
    }

    converted = gemini_schema(schema)

    assert converted["properties"] == {"a": {"type": "string"}, "b": {"type": "integer"}}
    assert sorted(converted["required"]) == ["a", "b"]


@pytest.mark.parametrize("open_one", [{}, True, {"description": "What you like."}])
def test_what_may_be_anything_is_not_held_to_be_text(open_one: object) -> None:
    key = {"type": "string", "description": "Its key."}

    converted = gemini_schema({"properties": {"value": open_one, "key": key}})["properties"][
        "value"
    ]

    assert converted["anyOf"] == ANY["anyOf"]
