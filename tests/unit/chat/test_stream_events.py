"""The events' names and fields are a contract (S33, decision 5)."""

import json

import pytest

from archivolt.chat.sse import HEARTBEAT, encode_event
from archivolt.domain.conversation import Citation
from archivolt.domain.stream import (
    Citations,
    ContentDelta,
    Failure,
    MessageEnd,
    MessageStart,
    Notice,
    StreamEvent,
    ToolUseResult,
    ToolUseStart,
)

CITATION = Citation(
    uri="vault://docs/a.md", vault="docs", path="a.md", heading="A", page=3, excerpt="x"
)

EVENTS: list[tuple[StreamEvent, str, set[str]]] = [
    (
        MessageStart(conversation_id="c", model="m"),
        "message_start",
        {"conversation_id", "model"},
    ),
    (ContentDelta(text="é"), "content_delta", {"type", "text"}),
    (ToolUseStart(tool_name="t", tool_id="1"), "tool_use_start", {"tool_name", "tool_id"}),
    (
        ToolUseResult(tool_id="1", status="success", summary="s", uris=("vault://docs/a.md",)),
        "tool_use_result",
        {"tool_id", "status", "summary", "uris"},
    ),
    (Citations(items=(CITATION,)), "citations", {"items"}),
    (Notice(code="c", message="m"), "notice", {"code", "message"}),
    (Failure(code="c", message="m"), "error", {"code", "message"}),
    (
        MessageEnd(input_tokens=1, output_tokens=2, tool_calls=3),
        "message_end",
        {"input_tokens", "output_tokens", "tool_calls"},
    ),
]


@pytest.mark.parametrize(("event", "name", "fields"), EVENTS)
def test_an_event_has_its_name_and_exactly_its_fields(
    event: StreamEvent, name: str, fields: set[str]
) -> None:
    assert event.event == name
    assert set(event.payload()) == fields


@pytest.mark.parametrize(("event", "name", "fields"), EVENTS)
def test_an_event_is_written_as_its_name_and_one_line_of_json(
    event: StreamEvent, name: str, fields: set[str]
) -> None:
    first, second, *rest = encode_event(event).decode().split("\n")

    assert first == f"event: {name}"
    assert json.loads(second.removeprefix("data: ")) == event.payload()
    assert rest == ["", ""]


def test_a_citation_carries_where_it_is_from() -> None:
    assert Citations(items=(CITATION,)).payload()["items"] == [
        {
            "uri": "vault://docs/a.md",
            "vault": "docs",
            "path": "a.md",
            "heading": "A",
            "page": 3,
            "excerpt": "x",
        }
    ]


def test_line_ends_in_a_text_never_break_an_event() -> None:
    written = encode_event(ContentDelta(text="a\r\nb\n\nevent: error\ndata: {}"))

    assert written.count(b"\n") == 3
    assert b"\r" not in written


def test_half_a_surrogate_pair_does_not_break_the_stream() -> None:
    assert json.loads(encode_event(ContentDelta(text="a\ud83d")).split(b"data: ")[1]) == {
        "type": "text",
        "text": "a?",
    }


def test_the_heartbeat_is_a_comment() -> None:
    assert HEARTBEAT.startswith(b":")
    assert HEARTBEAT.endswith(b"\n\n")
