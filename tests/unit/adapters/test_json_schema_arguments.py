"""Arguments held to schemas that strangers wrote."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from archivolt.adapters.json_schema.arguments import JsonSchemaArguments
from archivolt.domain.errors import InvalidRequestError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "boolean"},
        "name": {"type": "string"},
    },
    "required": ["count"],
    "additionalProperties": False,
}


def read(schema: dict[str, Any], **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
    return JsonSchemaArguments().read(schema, arguments)


def test_what_a_model_wrote_as_text_is_read_and_a_text_stays_one() -> None:
    assert read(SCHEMA, count="3", tags='["a"]', deep="true", name="7") == {
        "count": 3,
        "tags": ["a"],
        "deep": True,
        "name": "7",
    }


def test_null_for_what_may_be_left_out_counts_as_left_out() -> None:
    assert read(SCHEMA, count=1, name=None) == {"count": 1}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "'count' is a required property"),
        ({"count": 0}, "count: minimum 1"),
        ({"count": True}, 'count: type "integer"'),
        ({"count": 1, "tags": [1]}, 'tags.0: type "string"'),
        ({"count": 1, "other": 1}, "'other' was unexpected"),
    ],
)
def test_a_broken_rule_is_told_without_the_value(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        read(SCHEMA, **arguments)

    assert told in str(refused.value.details["problem"])


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"properties": {"a": {"$ref": "https://unreachable.test/x#/y"}}},
        {"$ref": "#"},
        {"type": 7},
        {"properties": []},
        {"allOf": {"a": 1}},
    ],
)
def test_a_schema_that_says_nothing_or_leads_elsewhere_refuses_nothing(
    schema: dict[str, Any],
) -> None:
    assert read(schema, a="b") == {"a": "b"}


def test_no_pattern_of_a_stranger_is_run() -> None:
    bomb = {
        "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}},
        "patternProperties": {"^(b+)+$": {"type": "integer"}},
        "additionalProperties": False,
        "propertyNames": {"pattern": "^(c+)+$"},
    }

    assert read(bomb, a="a" * 60 + "!", **{"b" * 60 + "!": "x"})["a"].endswith("!")


def test_a_parameter_may_be_named_as_a_keyword() -> None:
    schema = {"properties": {"pattern": {"type": "integer"}}, "required": ["pattern"]}

    with pytest.raises(InvalidRequestError):
        read(schema, pattern="x")


@pytest.mark.parametrize("draft", [{}, {"$schema": Draft202012Validator.META_SCHEMA["$id"]}])
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "unevaluatedProperties"])
def test_a_schema_that_refers_to_itself_without_end_says_nothing(
    keyword: str, draft: dict[str, Any]
) -> None:
    def twice(number: int) -> dict[str, Any]:
        both = [{"$ref": f"#/$defs/d{number}"}] * 2
        return {("allOf" if keyword == "unevaluatedProperties" else keyword): both, **draft}

    defined = {f"d{number}": twice(number + 1) for number in range(40)} | {"d40": {"minimum": 1}}
    bomb = {"$defs": defined, "$ref": "#/$defs/d0", "unevaluatedProperties": False}

    assert read(bomb, count=1) == {"count": 1}


UUID, EMAIL = {"type": "string", "format": "uuid"}, {"type": "string", "format": "email"}
CLOSED = {"unevaluatedProperties": False}


ANYTHING: dict[str, Any] = {}
BY_PATTERNS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"properties": {"a": {"oneOf": [UUID, EMAIL]}}}, {"a": "x@y.z"}),
    (
        {
            "$defs": {"u": UUID, "e": EMAIL},
            "properties": {"a": {"oneOf": [{"$ref": "#/$defs/u"}, {"$ref": "#/$defs/e"}]}},
        },
        {"a": "x@y.z"},
    ),
    ({"properties": {"a": {"not": {"pattern": "^/etc"}}}}, {"a": "/home"}),
    ({"if": {"properties": {"a": {"pattern": "^x"}}}, "then": {"required": ["b"]}}, {"a": "y"}),
    ({"properties": {"a": {"contains": {"pattern": "^x"}, "maxContains": 1}}}, {"a": ["x", "y"]}),
    ({"oneOf": [{"properties": {name: ANYTHING}, **CLOSED} for name in "kz"]}, {"k": 1}),
]


@pytest.mark.parametrize(("schema", "arguments"), BY_PATTERNS)
def test_what_is_said_by_patterns_refuses_nothing_by_being_left_out(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    assert read(schema, **arguments) == arguments


def test_one_of_several_stays_one_where_no_pattern_tells_them_apart() -> None:
    several = [{"type": "string"}, {"minLength": 1}]
    schema = {"properties": {"a": {"oneOf": several}, "b": {"format": "uri"}}}

    with pytest.raises(InvalidRequestError):
        read(schema, a="x")
    with pytest.raises(InvalidRequestError):
        read({"properties": {"a": {"oneOf": [UUID, EMAIL]}}}, a=1)


def test_null_is_left_out_also_where_what_is_required_is_no_list() -> None:
    assert read({"properties": {"a": {"type": "string"}}, "required": True}, a=None) == {}


def test_the_root_tells_the_draft() -> None:
    older = "http://json-schema.org/draft-07/schema#"
    schema = {"$schema": older, "properties": {"a": {"items": [{"type": "string"}]}}}

    with pytest.raises(InvalidRequestError):
        read(schema, a=[1])


def test_references_of_a_plain_schema_are_followed() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"count": {"$ref": "#/$defs/n"}}}

    with pytest.raises(InvalidRequestError):
        read(schema, count="x")
    assert read(schema, count=1) == {"count": 1}
