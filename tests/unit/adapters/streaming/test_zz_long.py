"""Streams cut, merged, repeated and put out of order: no crash, and no call that nobody wrote.

What such a stream gives may be no turn at all, or calls whose arguments nobody can read. A call
that can run has arguments that its tool's schema allows: the tools' own check stands behind it.
"""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from archivolt.adapters.streaming.formats import ProviderFormat
from archivolt.agent.calls import ToolCall, read_call
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.messages import Language
from archivolt.ports.chat_model import ModelTurn
from archivolt.tools.arguments import read_arguments
from archivolt.tools.schemas import ToolInput
from tests.fakes.openai_server import chunks as openai_chunks
from tests.fakes.provider_streams import (
    anthropic_call,
    anthropic_stream,
    anthropic_text,
    gemini_stream,
)
from tests.unit.adapters.streaming.recordings import FORMATS, NO_TURN, assemble

ARGUMENTS: dict[str, dict[str, Any]] = {
    "write": {"path": "é/}{.md", "content": 'a "quoted" {"path": "x"}\n' * 2},
    "read": {"path": "b.md"},
    "list": {},
}


class Write(ToolInput):
    """What `write` takes."""

    path: str
    content: str


class Read(ToolInput):
    """What `read` takes."""

    path: str


SCHEMAS: dict[str, type[ToolInput]] = {"write": Write, "read": Read, "list": ToolInput}
TEXT = "Voilà 😀 — {let me} look."


def openai() -> bytes:
    deltas: list[dict[str, Any]] = [{"content": TEXT[:9]}, {"content": TEXT[9:]}]
    for index, (name, arguments) in enumerate(ARGUMENTS.items()):
        text = json.dumps(arguments)
        begun = {"index": index, "id": f"call_{index}", "type": "function"}
        deltas.append({"tool_calls": [{**begun, "function": {"name": name, "arguments": ""}}]})
        for at in range(0, len(text), 11):
            piece = {"index": index, "function": {"arguments": text[at : at + 11]}}
            deltas.append({"tool_calls": [piece]})
    return b"".join(openai_chunks(*deltas, finish="tool_calls").pieces)


def anthropic() -> bytes:
    calls = [
        anthropic_call(name, json.dumps(arguments), f"toolu_{name}")
        for name, arguments in ARGUMENTS.items()
    ]
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    signed = [{"type": "signature_delta", "signature": "sig"}]
    return anthropic_stream((thought, signed), anthropic_text(TEXT), *calls, stop="tool_use")


def gemini() -> bytes:
    pieces: list[dict[str, Any]] = [
        {"functionCall": {"name": "write", "willContinue": True}, "thoughtSignature": "sig"},
        *(
            {
                "functionCall": {
                    "partialArgs": [
                        {"jsonPath": f"$.{name}", "stringValue": value[:5], "willContinue": True},
                        {"jsonPath": f"$.{name}", "stringValue": value[5:]},
                    ],
                    "willContinue": True,
                }
            }
            for name, value in ARGUMENTS["write"].items()
        ),
        {"functionCall": {}},
        {"functionCall": {"name": "read", "args": ARGUMENTS["read"]}},
        {"functionCall": {"name": "list", "args": {}}},
    ]
    return gemini_stream({"text": TEXT[:9]}, {"text": TEXT[9:]}, *pieces)


STREAMS: dict[str, Callable[[], bytes]] = {"oa": openai, "an": anthropic, "ge": gemini}
EVERY_FORMAT = pytest.mark.parametrize("name", STREAMS)


def whole(name: str) -> ModelTurn:
    return assemble(FORMATS[name], [STREAMS[name]()])


def runnable(turn: ModelTurn) -> list[tuple[str, Any]]:
    """The calls that would reach a tool."""
    read = [read_call(call, ARGUMENTS) for call in turn.tool_calls]
    return [(each.name, each.arguments) for each in read if isinstance(each, ToolCall)]


def try_to_assemble(wire: ProviderFormat, *pieces: bytes) -> ModelTurn | None:
    try:
        return assemble(wire, pieces)
    except NO_TURN:
        return None


@EVERY_FORMAT
def test_undisturbed_all_of_it_arrives(name: str) -> None:
    turn = whole(name)

    assert turn.text == TEXT
    assert runnable(turn) == list(ARGUMENTS.items())


@EVERY_FORMAT
@settings(deadline=None, max_examples=1500)
@given(st.lists(st.integers(0, 6_000), max_size=60))
def test_where_the_bytes_are_cut_makes_no_difference(name: str, cuts: list[int]) -> None:
    raw = STREAMS[name]()
    places = sorted({0, len(raw), *(cut % len(raw) for cut in cuts)})
    pieces = [raw[a:b] for a, b in pairwise(places)]

    assert assemble(FORMATS[name], pieces) == whole(name)


@EVERY_FORMAT
def test_a_stream_that_breaks_off_at_any_byte_runs_no_half_call(name: str) -> None:
    raw, complete = STREAMS[name](), list(ARGUMENTS.items())

    for end in range(0, len(raw), 3):
        turn = try_to_assemble(FORMATS[name], raw[:end])
        calls = runnable(turn) if turn else []
        assert calls in ([], complete), end


@EVERY_FORMAT
@settings(deadline=None, max_examples=1500)
@given(st.data())
def test_events_that_are_lost_repeated_or_out_of_order_never_crash_the_reader(
    name: str, data: st.DataObject
) -> None:
    events = STREAMS[name]().split(b"\n\n")[:-1]
    order = data.draw(
        st.lists(st.integers(0, len(events) - 1), min_size=1, max_size=2 * len(events))
        | st.permutations(range(len(events)))
    )
    turn = try_to_assemble(FORMATS[name], b"".join(events[at] + b"\n\n" for at in order))

    for called, arguments in runnable(turn) if turn else []:
        try:
            taken = read_arguments(SCHEMAS[called], arguments, Language.EN)
        except InvalidRequestError:
            continue
        assert taken.model_dump() == arguments


@EVERY_FORMAT
@settings(deadline=None, max_examples=1500)
@given(st.data())
def test_damaged_bytes_never_crash_the_reader(name: str, data: st.DataObject) -> None:
    raw = bytearray(STREAMS[name]())
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(raw) - 1))
        kind = data.draw(st.sampled_from(["change", "drop", "repeat", "insert"]))
        if kind == "change":
            raw[at] = data.draw(st.integers(0, 255))
        elif kind == "drop":
            del raw[at : at + data.draw(st.integers(1, 60))]
        elif kind == "repeat":
            raw[at:at] = raw[at : at + 60]
        else:
            raw[at:at] = data.draw(st.binary(max_size=12))
        raw = raw or bytearray(b"x")

    try_to_assemble(FORMATS[name], bytes(raw))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
# Names that readers look for, with anything behind them.
NAMES = st.sampled_from(
    [
        *("choices", "delta", "content", "tool_calls", "function", "name", "arguments", "index"),
        *("finish_reason", "usage", "error", "message", "type", "content_block", "partial_json"),
        *("candidates", "parts", "text", "functionCall", "args", "partialArgs", "jsonPath"),
        *("thoughtSignature", "promptFeedback", "finishReason", "usageMetadata", "stop_reason"),
        *("reasoning_details", "extra_content", "id", "input", "signature", "thinking", "citation"),
    ]
)
EVENT_KINDS = st.sampled_from(
    [
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message", "tool_use", "thinking", "text_delta", "server_tool_use"),
    ]
)
CHUNKS = st.recursive(
    JSON | EVENT_KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=14,
)


@EVERY_FORMAT
@settings(deadline=None, max_examples=1500)
@given(st.lists(st.dictionaries(NAMES, CHUNKS, max_size=6), max_size=5))
@example([{"type": "content_block_start", "index": True, "content_block": {"type": ["a"]}}])
def test_chunks_of_any_shape_never_crash_the_reader(name: str, shaped: list[Any]) -> None:
    raw = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in shaped)

    turn = try_to_assemble(FORMATS[name], raw, b"data: [DONE]\n\n")

    assert turn is None or all(isinstance(call.arguments, str) for call in turn.tool_calls)
