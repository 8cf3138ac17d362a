"""Every recorded stream of every provider gives what is expected of it, however it is cut."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.ports.chat_model import ModelMessage, ModelRequest, ModelTurn
from tests.unit.adapters.streaming.recordings import (
    FORMATS,
    NO_TURN,
    RECORDINGS,
    assemble,
    read_recording,
    recorded,
)

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not here"),
]
ALL = [pytest.param(each, id=each["id"]) for each in recorded()]
# What providers call it, and what it is here.
FINISHES = {
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "stop": "stop",
    "end_turn": "stop",
    "length": "length",
    "refusal": "filtered",
    "pause_turn": "paused",
}
NO_NORMAL_END = {"filtered", "malformed"}


def expected_calls(expected: dict[str, Any]) -> list[tuple[str, Any]]:
    """The calls we are to run: those of a provider's own tools it runs itself."""
    if expected["expected_calls"] != "see naive_calls":
        return [(call["name"], call["args"]) for call in expected["expected_calls"]]
    if expected["id"] == "ge04_partial_args":
        return [
            ("getWeather", {"location": "Boston"}),
            ("getWeather", {"location": "San Francisco"}),
        ]
    ours = [call for call in expected["naive_calls"] if call.get("type", "tool_use") == "tool_use"]
    # Gemini's are noted as Python wrote them.
    return [(call["name"], json.loads((call["args"] or "{}").replace("'", '"'))) for call in ours]


@pytest.mark.parametrize("size", [1, 7, 10**9])
@pytest.mark.parametrize("expected", ALL)
def test_a_recorded_stream_gives_what_is_expected(expected: dict[str, Any], size: int) -> None:
    raw = read_recording(expected["file"])
    pieces = (raw[at : at + size] for at in range(0, len(raw), size))
    wire = FORMATS[expected["id"][:2]]
    try:
        turn = assemble(wire, pieces)
    except NO_TURN:
        assert expected["expected_finish"] == "error"
        return

    wanted = expected["expected_finish"]
    calls = expected_calls(expected)
    if wanted == "error":
        assert turn.finish_reason in NO_NORMAL_END
        assert turn.tool_calls == ()
        return
    if wanted in {"STOP", None}:  # Gemini says so of calls as well; of two nothing is expected
        wanted = "tool_use" if calls else "end_turn"
    assert turn.finish_reason == FINISHES[wanted]
    assert [(call.name, json.loads(call.arguments)) for call in turn.tool_calls] == calls
    assert "<think>" not in turn.text


def recording(name: str) -> tuple[ModelTurn, bytes]:
    [expected] = [each for each in recorded() if each["id"] == name]
    raw = read_recording(expected["file"])
    return assemble(FORMATS[name[:2]], [raw]), raw


def sent_back(name: str, turn: ModelTurn) -> dict[str, Any]:
    """The body of the next request after a turn."""
    calls = tuple(turn.tool_calls)
    messages = [
        ModelMessage(role="user", text="?"),
        ModelMessage(role="assistant", text=turn.text, tool_calls=calls, echo=turn.echo),
        *(ModelMessage(role="tool", text="done", tool_call_id=call.id) for call in calls),
    ]
    return FORMATS[name[:2]].body(ModelRequest(messages=messages, model="m", max_tokens=9))


@pytest.mark.parametrize(
    ("name", "tokens"),
    [("an06_usage_override", (61, 2)), ("an03_dup_message_start", (17, 227))],
)
def test_counts_are_totals_and_never_added(name: str, tokens: tuple[int, int]) -> None:
    turn, _ = recording(name)

    assert (turn.input_tokens, turn.output_tokens) == tokens


def test_thoughts_that_nobody_can_read_come_back_word_for_word() -> None:
    turn, raw = recording("an10_redacted_thinking")

    assistant = sent_back("an10", turn)["messages"][1]
    kept = [block["data"] for block in assistant["content"] if block["type"] == "redacted_thinking"]
    assert len(kept) == raw.count(b'"redacted_thinking"')
    assert all(data.encode() in raw for data in kept)
    assert assistant["content"][-1] == {"type": "text", "text": turn.text}


def test_a_paused_turn_comes_back_with_what_the_providers_own_tools_did() -> None:
    turn, raw = recording("an11_pause_turn")

    content = sent_back("an11", turn)["messages"][1]["content"]
    kinds = [block["type"] for block in content]
    assert kinds.count("server_tool_use") == raw.count(b'"type":"server_tool_use"')
    assert kinds.count("web_search_tool_result") == raw.count(b'"type":"web_search_tool_result"')
    [thinking] = [block for block in content if block["type"] == "thinking"]
    assert thinking["signature"]
    queries = [block["input"]["query"] for block in content if block["type"] == "server_tool_use"]
    assert queries[0] == "San Francisco weather today"


def test_a_signed_call_comes_back_signed() -> None:
    turn, raw = recording("ge02_thought_signature")

    [part] = [p for p in sent_back("ge02", turn)["contents"][1]["parts"] if "functionCall" in p]
    assert part["functionCall"] == {"name": "weather", "args": {"location": "San Francisco"}}
    assert part["thoughtSignature"].encode() in raw


@pytest.mark.parametrize("expected", ALL)
@settings(max_examples=10, deadline=None)
@given(cut=st.floats(0, 1))
def test_a_recorded_stream_cut_anywhere_never_crashes_the_reader(
    expected: dict[str, Any], cut: float
) -> None:
    raw = read_recording(expected["file"])[:20_000]

    try:
        turn = assemble(FORMATS[expected["id"][:2]], [raw[: int(len(raw) * cut)]])
    except NO_TURN:
        return
    assert all(call.name for call in turn.tool_calls)


@pytest.mark.parametrize("expected", ALL)
def test_a_recorded_stream_with_events_lost_repeated_or_swapped_never_crashes_the_reader(
    expected: dict[str, Any],
) -> None:
    events = read_recording(expected["file"])[:20_000].split(b"\n\n")
    wire = FORMATS[expected["id"][:2]]
    for at in range(0, len(events) - 1, max(1, len(events) // 15)):
        before, event, after = events[:at], events[at], events[at + 1 :]
        for disturbed in (
            [*before, *after],
            [*before, event, event, *after],
            [*before, after[0], event, *after[1:]],
            [*before, event + after[0], *after[1:]],
        ):
            try:
                turn = assemble(wire, [b"\n\n".join(disturbed)])
            except NO_TURN:
                continue
            assert all(call.name for call in turn.tool_calls)
