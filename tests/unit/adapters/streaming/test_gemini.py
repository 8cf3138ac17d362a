"""Gemini's `streamGenerateContent`: what is sent, and one turn out of whatever chunks come."""

import json
from typing import Any

import pytest

from archivolt.adapters.gemini.format import GeminiFormat
from archivolt.adapters.gemini.schemas import gemini_schema
from archivolt.adapters.streaming.formats import BrokenTurnError, ReportedError
from archivolt.domain.tool import Declaration
from archivolt.ports.chat_model import (
    ModelImage,
    ModelMessage,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
)
from tests.fakes.provider_streams import gemini_stream, lines
from tests.unit.adapters.streaming.recordings import assemble

WIRE = GeminiFormat()
PARAMETERS = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
TOOL = Declaration(type="function", function={"name": "search", "parameters": PARAMETERS})


def read(*parts: dict[str, Any], finish: str | None = "STOP") -> ModelTurn:
    return assemble(WIRE, [gemini_stream(*parts, finish=finish)])


def called(turn: ModelTurn) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.tool_calls]


def call_part(name: str = "search", **parts: Any) -> dict[str, Any]:  # noqa: ANN401
    signature = parts.pop("signature", None)
    part: dict[str, Any] = {"functionCall": {"name": name, **parts}}
    return part | {"thoughtSignature": signature} if signature else part


def piece(path: str, more: bool = False, ends: bool = False, **value: Any) -> dict[str, Any]:  # noqa: ANN401
    argument = {"jsonPath": path, "willContinue": more, **value}
    return {"functionCall": {"partialArgs": [argument], "willContinue": not ends}}


def body(*messages: ModelMessage, **named: Any) -> dict[str, Any]:  # noqa: ANN401
    return WIRE.body(ModelRequest(messages=messages, model="gemini", max_tokens=9, **named))


def test_text_streams_and_thoughts_are_kept_apart() -> None:
    turn = read({"text": "Hm", "thought": True}, {"text": "Bon"}, {"text": "jour"})

    assert (turn.text, turn.reasoning, turn.finish_reason) == ("Bonjour", "Hm", "stop")
    assert (turn.input_tokens, turn.output_tokens) == (7, 3)
    assert turn.echo == ""


def test_calls_come_with_the_turn_though_the_reason_is_stop() -> None:
    turn = read({"text": "Look"}, call_part(args={"q": "é"}), call_part("list"))

    assert turn.finish_reason == "tool_calls"
    assert called(turn) == [("search", {"q": "é"}), ("list", {})]


def test_arguments_in_pieces_are_put_where_they_belong() -> None:
    turn = read(
        call_part(willContinue=True),
        piece("$.q", more=True, stringValue="a "),
        piece("$.q", stringValue="b"),
        piece("$.deep.list[0].name", stringValue="x"),
        piece("$.deep.list[1]['odd key']", numberValue=2.5),
        piece("$.flags[0]", boolValue=True),
        piece("$.flags[1]", nullValue=None, ends=True),
    )

    deep = {"list": [{"name": "x"}, {"odd key": 2.5}]}
    assert called(turn) == [("search", {"q": "a b", "deep": deep, "flags": [True, None]})]


@pytest.mark.parametrize(
    "pieces",
    [
        [piece("$.q", stringValue="a")],
        [piece("$.q", more=True, stringValue="a", ends=True)],
        [piece("$.list[3]", stringValue="a", ends=True)],
        [piece("$.a", stringValue="a"), piece("$.a.b", stringValue="a", ends=True)],
        [piece("q..", stringValue="a", ends=True)],
        [piece("$", stringValue="a", ends=True)],
        [piece("$.q", ends=True)],
    ],
)
def test_arguments_with_a_piece_missing_or_misplaced_are_no_json(
    pieces: list[dict[str, Any]],
) -> None:
    [call] = read(call_part(willContinue=True), *pieces).tool_calls

    with pytest.raises(ValueError, match="Expecting"):
        json.loads(call.arguments)


def test_a_call_that_begins_before_the_last_has_ended_ends_neither() -> None:
    first, second = read(
        call_part(willContinue=True), call_part("other", args={}, willContinue=False)
    ).tool_calls

    with pytest.raises(ValueError, match="Expecting"):
        json.loads(first.arguments)
    assert second.arguments == "{}"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("MAX_TOKENS", "length"),
        ("SAFETY", "filtered"),
        ("RECITATION", "filtered"),
        ("MALFORMED_FUNCTION_CALL", "malformed"),
        ("UNEXPECTED_TOOL_CALL", "malformed"),
    ],
)
def test_no_call_of_a_turn_that_ended_badly_runs(reason: str, finish: str) -> None:
    turn = read({"text": "a"}, call_part(args={}), finish=reason)

    assert (turn.text, turn.finish_reason, turn.tool_calls) == ("a", finish, ())


def test_a_bad_end_stays_the_reason_whatever_follows() -> None:
    ends = [{"candidates": [{"finishReason": reason}]} for reason in ("STOP", "SAFETY", "STOP")]

    assert assemble(WIRE, [lines(*ends)]).finish_reason == "filtered"


def test_a_prompt_that_is_blocked_is_filtered() -> None:
    assert (
        assemble(WIRE, [lines({"promptFeedback": {"blockReason": "SAFETY"}})]).finish_reason
        == "filtered"
    )


def test_a_stream_that_just_ends_is_broken() -> None:
    with pytest.raises(BrokenTurnError):
        read({"text": "half"}, finish=None)


def test_a_call_without_a_name_is_broken() -> None:
    with pytest.raises(BrokenTurnError):
        read({"functionCall": {"args": {"q": "x"}}})


def test_an_error_within_the_stream_is_reported() -> None:
    with pytest.raises(ReportedError):
        assemble(WIRE, [lines({"error": {"code": 503, "status": "UNAVAILABLE"}})])


def test_an_answer_that_was_not_streamed_is_read_as_well() -> None:
    answer = [
        {"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "lo"}]}, "finishReason": "STOP"}]},
    ]
    assembler = WIRE.assembler()

    assert "".join(assembler.feed(chunk) for chunk in WIRE.chunks(answer)) == "Hello"
    assert WIRE.chunks(answer[1]) == answer[1:]


ODD_CHUNKS: list[dict[str, Any]] = [
    {},
    {"candidates": None},
    {"candidates": [None]},
    {"candidates": [{"content": {"parts": [3, {"text": 4}, {"functionCall": 5}, {}]}}]},
    {"candidates": [{"content": []}]},
    {"usageMetadata": "many", "promptFeedback": []},
]


@pytest.mark.parametrize("chunk", ODD_CHUNKS)
def test_a_chunk_of_another_shape_says_nothing(chunk: dict[str, Any]) -> None:
    assert WIRE.assembler().feed(chunk) == ""


def test_signed_parts_come_back_in_their_places() -> None:
    turn = read(
        {"text": "Let me "},
        {"text": "look."},
        {"text": "", "thoughtSignature": "of-text"},
        call_part(args={"q": "x"}, signature="of-call", id="theirs"),
        call_part("list", args={}),
    )
    first, second = turn.tool_calls
    ours = (
        ModelToolCall(id="c1", name="search", arguments=first.arguments),
        ModelToolCall(id="c2", name="list", arguments=second.arguments),
    )

    sent = body(
        ModelMessage(role="user", text="?"),
        ModelMessage(role="assistant", text=turn.text, tool_calls=ours, echo=turn.echo),
        ModelMessage(role="tool", tool_call_id="c1", text="found"),
        ModelMessage(role="tool", tool_call_id="c2", text="none"),
    )

    called_by_id = {"name": "search", "id": "theirs"}
    assert sent["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "Let me look."},
                {"text": "", "thoughtSignature": "of-text"},
                {
                    "functionCall": {**called_by_id, "args": {"q": "x"}},
                    "thoughtSignature": "of-call",
                },
                {"functionCall": {"name": "list", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {**called_by_id, "response": {"result": "found"}}},
                {"functionResponse": {"name": "list", "response": {"result": "none"}}},
            ],
        },
    ]


def test_the_request_has_what_the_wire_format_asks_for() -> None:
    image = ModelImage(media_type="image/png", data="AAAA")
    sent = body(
        ModelMessage(role="system", text="Rules"),
        ModelMessage(role="user", text="What?", images=(image,)),
        tools=[TOOL],
        answer_only=True,
    )

    assert sent == {
        "systemInstruction": {"parts": [{"text": "Rules"}]},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                    {"text": "What?"},
                ],
            }
        ],
        "generationConfig": {"maxOutputTokens": 9},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "search", "description": "", "parameters": PARAMETERS}
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
    }


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        ("https://g.test", "gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro"),
        ("https://g.test/v1/", "models/gemini-2.5-pro", "/v1/models/gemini-2.5-pro"),
        ("https://g.test/v1", "../../other?x=1#", "/v1/models/..%2F..%2Fother%3Fx%3D1%23"),
    ],
)
def test_a_models_name_is_a_part_of_the_address_and_nothing_else(
    base: str, model: str, url: str
) -> None:
    assert WIRE.url(base, model) == f"https://g.test{url}:streamGenerateContent?alt=sse"


SCHEMAS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("nothing", {"type": "object", "properties": {}, "additionalProperties": False}, {}),
    (
        "or null",
        {"type": "object", "properties": {"a": {"type": ["string", "null"], "default": None}}},
        {"type": "object", "properties": {"a": {"nullable": True, "type": "string"}}},
    ),
    (
        "a choice with null",
        {"properties": {"a": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}},
        {
            "type": "object",
            "properties": {"a": {"nullable": True, "type": "integer", "minimum": 1}},
        },
    ),
    (
        "a choice",
        {"properties": {"a": {"oneOf": [{"type": "string"}, {"type": "number"}]}}},
        {
            "type": "object",
            "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
        },
    ),
    (
        "several types",
        {"properties": {"a": {"type": ["string", "integer"]}}},
        {
            "type": "object",
            "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        },
    ),
    (
        "constants and enumerations",
        {"properties": {"a": {"const": "x"}, "b": {"enum": ["y", None]}, "c": {"enum": [1, 2]}}},
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "enum": ["x"]},
                "b": {"type": "string", "nullable": True, "enum": ["y"]},
                "c": {"type": "integer"},
            },
        },
    ),
    (
        "references",
        {
            "properties": {"a": {"$ref": "#/$defs/A", "description": "an A"}},
            "required": ["a", "gone"],
            "$defs": {"A": {"type": "array", "items": {"type": "string", "format": "uri"}}},
        },
        {
            "type": "object",
            "properties": {
                "a": {"description": "an A", "type": "array", "items": {"type": "string"}}
            },
            "required": ["a"],
        },
    ),
    (
        "all of several",
        {
            "properties": {
                "a": {"allOf": [{"type": "string"}, {"minLength": 1}], "exclusiveMinimum": 0}
            }
        },
        {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}},
    ),
]


@pytest.mark.parametrize(
    ("schema", "converted"), [pytest.param(*rest, id=name) for name, *rest in SCHEMAS]
)
def test_a_schema_is_said_in_geminis_subset(
    schema: dict[str, Any], converted: dict[str, Any]
) -> None:
    assert gemini_schema(schema) == converted


def test_a_schema_of_itself_ends_somewhere() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}

    text = json.dumps(
        gemini_schema({"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": node}})
    )

    assert "$ref" not in text
    assert 2 < text.count('"next"') < 20


@pytest.mark.parametrize("within", ["properties", "anyOf", "items", "types"])
def test_a_schema_that_grows_with_each_level_is_cut_where_it_fits(within: str) -> None:
    again = {"$ref": "#/$defs/N"}
    node: dict[str, Any] = {
        "properties": {"type": "object", "properties": dict.fromkeys("abcd", again)},
        "anyOf": {"type": "string", "anyOf": [again] * 4},
        "items": {"items": {"anyOf": [again] * 4}},
        "types": {"type": ["string", "object"], "properties": dict.fromkeys("abcd", again)},
    }[within]
    asked = {"type": "string", "description": "What is looked for."}

    converted = gemini_schema({"properties": {"n": again, "q": asked}, "$defs": {"N": node}})

    assert 100 < len(json.dumps(converted)) < 50_000
    assert converted["properties"]["q"] == asked


LOOPS: list[dict[str, Any]] = [
    {"A": {"$ref": "#/$defs/A"}},
    {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
    {"A": {"allOf": [{"$ref": "#/$defs/B"}]}, "B": {"allOf": [{"$ref": "#/$defs/A"}]}},
]


@pytest.mark.parametrize("schema", [{"$ref": "#/$defs/A", "$defs": loop} for loop in LOOPS])
def test_a_reference_to_itself_is_no_schema(schema: dict[str, Any]) -> None:
    assert gemini_schema(schema) == {}
