"""Anthropic's Messages: what is sent, and one turn out of whatever events come."""

import json
from dataclasses import replace
from typing import Any

import pytest

from archivolt.adapters.anthropic.format import AnthropicFormat
from archivolt.adapters.streaming.formats import BrokenTurnError, ReportedError
from archivolt.domain.tool import Declaration
from archivolt.ports.chat_model import (
    ModelImage,
    ModelMessage,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
)
from tests.fakes.provider_streams import anthropic_call, anthropic_stream, anthropic_text, lines
from tests.unit.adapters.streaming.recordings import assemble

WIRE = AnthropicFormat()
PARAMETERS = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
TOOL = Declaration(type="function", function={"name": "search", "parameters": PARAMETERS})
CALL = ModelToolCall(id="toolu_1", name="search", arguments='{"q": "x"}')


def read(*events: dict[str, Any]) -> ModelTurn:
    return assemble(WIRE, [lines(*events)])


def body(*messages: ModelMessage, **named: Any) -> dict[str, Any]:  # noqa: ANN401
    return WIRE.body(ModelRequest(messages=messages, model="claude", max_tokens=9, **named))


def user(text: str = "?") -> ModelMessage:
    return ModelMessage(role="user", text=text)


def assistant(*calls: ModelToolCall, text: str = "", echo: str = "") -> ModelMessage:
    return ModelMessage(role="assistant", text=text, tool_calls=calls, echo=echo)


def result(call_id: str = "toolu_1", text: str = "found") -> ModelMessage:
    return ModelMessage(role="tool", tool_call_id=call_id, text=text)


def test_text_streams_and_counts_are_read() -> None:
    turn = assemble(WIRE, [anthropic_stream(anthropic_text("Bonjour"), stop="end_turn")])

    assert turn == ModelTurn(text="Bonjour", input_tokens=7, output_tokens=3)


def test_calls_beside_text_come_with_the_turn() -> None:
    raw = anthropic_stream(
        anthropic_text("Let me look."),
        anthropic_call("search", '{"q": "é \\"quoted\\""}'),
        anthropic_call("list", "", "toolu_2"),
        stop="tool_use",
    )

    turn = assemble(WIRE, [raw])

    assert turn.text == "Let me look."
    assert turn.finish_reason == "tool_calls"
    assert [(call.id, call.name, json.loads(call.arguments)) for call in turn.tool_calls] == [
        ("toolu_1", "search", {"q": 'é "quoted"'}),
        ("toolu_2", "list", {}),
    ]
    assert turn.echo == ""


def test_calls_that_stop_for_another_reason_are_calls_all_the_same() -> None:
    turn = assemble(WIRE, [anthropic_stream(anthropic_call("a", "{}"), stop="end_turn")])

    assert turn.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "filtered"),
    ],
)
def test_no_call_of_a_turn_that_was_cut_or_refused_runs(stop: str, finish: str) -> None:
    turn = assemble(WIRE, [anthropic_stream(anthropic_call("a", "{}"), stop=stop)])

    assert (turn.finish_reason, turn.tool_calls) == (finish, ())


def test_a_call_whose_block_has_no_end_is_broken() -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": anthropic_call("a", "")[0]}

    with pytest.raises(BrokenTurnError):
        read(start, {"type": "message_stop"})


def test_a_call_without_a_name_is_broken() -> None:
    delta = {"type": "input_json_delta", "partial_json": "{}"}

    with pytest.raises(BrokenTurnError):
        read(
            {"type": "content_block_delta", "index": 3, "delta": delta},
            {"type": "content_block_stop", "index": 3},
            {"type": "message_stop"},
        )


def test_a_stream_that_just_ends_is_broken() -> None:
    raw = anthropic_stream(anthropic_text("half"), stop="end_turn")

    with pytest.raises(BrokenTurnError):
        assemble(WIRE, [raw[: raw.index(b'data: {"type": "message_delta"')]])


def test_an_error_after_a_good_beginning_is_reported() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    with pytest.raises(ReportedError) as raised:
        read({"type": "message_start", "message": {}}, error)
    assert raised.value.report["type"] == "overloaded_error"


def test_blocks_that_come_interleaved_are_kept_apart() -> None:
    def delta(index: int, piece: str) -> dict[str, Any]:
        said = {"type": "input_json_delta", "partial_json": piece}
        return {"type": "content_block_delta", "index": index, "delta": said}

    def start(index: int, name: str) -> dict[str, Any]:
        begun = anthropic_call(name, "", f"id{index}")[0]
        return {"type": "content_block_start", "index": index, "content_block": begun}

    turn = read(
        *(start(0, "one"), start(1, "two"), start(0, "one")),
        *(delta(0, '{"x"'), delta(1, '{"y"'), delta(0, ": 1}"), delta(1, ": 2}")),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )

    assert [(c.name, c.arguments) for c in turn.tool_calls] == [
        ("one", '{"x": 1}'),
        ("two", '{"y": 2}'),
    ]


def test_an_answer_that_was_not_streamed_is_read_as_well() -> None:
    message = {
        "type": "message",
        "content": [
            {"type": "text", "text": "Hello"},
            {"type": "tool_use", "id": "t", "name": "search", "input": {"q": "x"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 2},
    }
    [chunk] = WIRE.chunks(message)
    assembler = WIRE.assembler()

    assert assembler.feed(chunk) == "Hello"
    turn = assembler.turn(ended=True)
    assert [json.loads(call.arguments) for call in turn.tool_calls] == [{"q": "x"}]
    assert (turn.input_tokens, turn.output_tokens) == (9, 2)


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": None},
        {"type": "ping"},
        {"type": "message_start", "message": 3},
        {"type": "content_block_start", "content_block": []},
        {"type": "content_block_delta", "index": "x", "delta": 7},
        {"type": "content_block_stop", "index": None},
        {"type": "message_delta", "delta": None, "usage": []},
        {"type": "something_new", "index": 9},
    ],
)
def test_an_event_of_another_shape_says_nothing(event: dict[str, Any]) -> None:
    assert WIRE.assembler().feed(event) == ""


def test_thoughts_come_back_signed_before_the_calls_they_led_to() -> None:
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = [
        {"type": "thinking_delta", "thinking": "Look"},
        {"type": "thinking_delta", "thinking": " first."},
        {"type": "signature_delta", "signature": "sig"},
    ]
    call = anthropic_call("search", '{"q": "x"}', "theirs")
    turn = assemble(
        WIRE, [anthropic_stream((thought, deltas), anthropic_text(""), call, stop="tool_use")]
    )
    ours = ModelToolCall(id="ours", name="search", arguments='{"q": "x"}')

    sent = body(user(), assistant(ours, echo=turn.echo), result("ours"))

    assert (turn.text, turn.reasoning) == ("", "Look first.")
    assert sent["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "Look first.", "signature": "sig"},
        {"type": "tool_use", "id": "ours", "name": "search", "input": {"q": "x"}},
    ]
    assert sent["messages"][2]["content"][0]["tool_use_id"] == "ours"


@pytest.mark.parametrize(
    "echo",
    [
        '{"format": "gemini", "items": [{"part": {}}]}',
        '{"format": "anthropic", "items": [{"call": 7}]}',
    ],
)
def test_an_echo_of_another_turn_is_left_out(echo: str) -> None:
    sent = body(user(), assistant(CALL, echo=echo), result())

    assert [block["type"] for block in sent["messages"][1]["content"]] == ["tool_use"]


def test_the_request_has_what_the_wire_format_asks_for() -> None:
    broken = ModelToolCall(id="b!d", name="search", arguments='{"q": ')
    sent = body(
        ModelMessage(role="system", text="Rules"),
        user(),
        assistant(CALL, broken, text="Hm"),
        result(),
        result("b!d", "error"),
        user("And?"),
        tools=[TOOL],
    )

    assert sent == {
        "model": "claude",
        "max_tokens": 9,
        "stream": True,
        "system": "Rules",
        "tools": [{"name": "search", "description": "", "input_schema": PARAMETERS}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Hm"},
                    {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "x"}},
                    {"type": "tool_use", "id": "b_d", "name": "search", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"},
                    {"type": "tool_result", "tool_use_id": "b_d", "content": "error"},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
    }


def test_a_model_that_may_only_answer_still_sees_the_tools() -> None:
    sent = body(user(), tools=[TOOL], answer_only=True)

    assert sent["tool_choice"] == {"type": "none"}
    assert len(sent["tools"]) == 1


def test_an_image_comes_before_the_question_about_it() -> None:
    image = ModelImage(media_type="image/png", data="AAAA")
    asked = ModelMessage(role="user", text="What?", images=(image,))

    assert body(asked)["messages"][0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "text", "text": "What?"},
    ]


def test_a_message_without_anything_is_not_sent() -> None:
    sent = body(user(), assistant(text=" \n"), user("again"))

    [message] = sent["messages"]
    assert [block["text"] for block in message["content"]] == ["?", "again"]


def test_fewer_tokens_are_asked_for_where_the_model_writes_less() -> None:
    complaint = "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens"

    wire = AnthropicFormat()
    large = ModelRequest(messages=[user()], model="claude", max_tokens=200_000)
    refused = wire.body(large)

    assert wire.adapted(refused, "something else") is None
    assert wire.adapted(refused, complaint) == refused | {"max_tokens": 64_000}
    assert wire.adapted(refused | {"max_tokens": 9}, complaint) is None
    assert wire.body(large)["max_tokens"] == 64_000
    assert wire.body(replace(large, max_tokens=9))["max_tokens"] == 9
    assert wire.body(replace(large, model="other"))["max_tokens"] == 200_000


@pytest.mark.parametrize(("asked", "room"), [(198_000, 2_000), (199_900, None), (0, None)])
def test_an_answer_is_asked_for_that_the_window_has_room_for(asked: int, room: int | None) -> None:
    body = {"model": "m", "max_tokens": 4_096}
    complaint = f"input length and `max_tokens` exceed context limit: {asked} + 4096 > 200000"

    adapted = AnthropicFormat().adapted(body, complaint)

    assert adapted == (None if room is None else body | {"max_tokens": room})


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://a.test", "https://a.test/v1/messages"),
        ("https://a.test/v1/", "https://a.test/v1/messages"),
        ("https://a.test/anthropic/v1/messages", "https://a.test/anthropic/v1/messages"),
    ],
)
def test_the_address_may_be_written_in_several_ways(base: str, url: str) -> None:
    assert WIRE.url(base, "claude") == url
