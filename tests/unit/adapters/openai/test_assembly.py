"""One turn out of whatever chunks a provider sends."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.adapters.openai.assembler import CompletionAssembler, whole_completion
from archivolt.adapters.streaming.formats import BrokenTurnError, ReportedError
from archivolt.adapters.streaming.sse import ChunkDecoder, UnreadableStreamError
from archivolt.ports.chat_model import ModelTurn

CUT_UP = "data: {0}\n\ndata: {1}\n\ndata: [DONE]\n\n"


def assemble(*pieces: bytes) -> ModelTurn:
    decoder, assembler = ChunkDecoder(), CompletionAssembler()
    read = [chunk for piece in pieces for chunk in decoder.feed(piece)] + decoder.close()
    shown = "".join(assembler.feed(chunk) for chunk in read) + assembler.close()
    turn = assembler.turn(ended=decoder.done)
    assert turn.text == shown
    return turn


def stream(*deltas: dict[str, Any], finish: str | None = "tool_calls", done: bool = True) -> bytes:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def piece(index: int | None = 0, **parts: object) -> dict[str, Any]:
    function = {key: parts[key] for key in ("name", "arguments") if key in parts}
    entry: dict[str, Any] = {"function": function}
    if index is not None:
        entry["index"] = index
    if "id" in parts:
        entry["id"] = parts["id"]
    return {"tool_calls": [entry]}


def called(turn: ModelTurn) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.tool_calls]


def test_text_is_shown_as_it_comes() -> None:
    assembler = CompletionAssembler()

    shown = [
        assembler.feed({"choices": [{"delta": {"content": text}}]}) for text in ("Bon", "jour", "")
    ]

    assert shown == ["Bon", "jour", ""]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])
def test_any_line_end_and_a_missing_blank_line_are_read(ending: str) -> None:
    lines = ['data: {"choices":[{"delta":{"content":"a"}}]}', ": ping", "data: [DONE]"]

    assert assemble(ending.join(lines).encode()).text == "a"


def test_a_chunk_over_several_data_lines_is_one_chunk() -> None:
    raw = b'data: {"choices":\ndata: [{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'

    assert assemble(raw).text == "a"


def test_a_damaged_chunk_is_no_answer() -> None:
    with pytest.raises(UnreadableStreamError):
        assemble(b'data: {"choices": [\n\ndata: [DONE]\n\n')


def test_an_endless_line_is_refused() -> None:
    decoder = ChunkDecoder()

    decoder.feed(b"x" * 5_000_000)

    with pytest.raises(UnreadableStreamError):
        decoder.feed(b"x" * 5_000_000)


def test_a_chunk_over_endless_lines_is_refused() -> None:
    decoder = ChunkDecoder()

    with pytest.raises(UnreadableStreamError):
        decoder.feed(b'data: {"a":\n' * 1_000)


def test_keep_alive_words_are_passed_over() -> None:
    assert assemble(b"data: ping\n\n" + stream({"content": "a"}, finish="stop")).text == "a"


def test_a_stream_that_just_ends_is_broken() -> None:
    with pytest.raises(BrokenTurnError):
        assemble(stream({"content": "half"}, finish=None, done=False))


def test_a_call_without_a_name_is_broken() -> None:
    with pytest.raises(BrokenTurnError):
        assemble(stream(piece(id="1", arguments="{}")))


def test_an_error_after_a_good_beginning_is_reported() -> None:
    raw = stream({"content": "half"}, finish=None, done=False) + b'data: {"error":{"code":"x"}}\n\n'

    with pytest.raises(ReportedError) as raised:
        assemble(raw)
    assert raised.value.report == {"code": "x"}


def test_a_call_cut_at_the_token_limit_is_not_in_the_turn() -> None:
    turn = assemble(stream(piece(id="1", name="write", arguments='{"a": "b'), finish="length"))

    assert turn.finish_reason == "length"
    assert turn.tool_calls == ()


def test_a_length_stays_the_reason_whatever_follows() -> None:
    raw = stream({"content": "a"}, finish="length", done=False) + stream(finish="stop")

    assert assemble(raw).finish_reason == "length"


def test_a_content_filter_is_told_apart() -> None:
    assert assemble(stream({"content": "a"}, finish="content_filter")).finish_reason == "filtered"


@pytest.mark.parametrize(
    ("reason", "finish_reason"),
    [
        ("MAX_TOKENS", "length"),
        ("model_context_window_exceeded", "length"),
        ("content_filter: PROHIBITED_CONTENT", "filtered"),
        ("token_limit", "length"),
        ("sensitive", "filtered"),
        ("IMAGE_SAFETY", "filtered"),
        ("MODEL_ARMOR", "filtered"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "malformed"),
        ("eos", "tool_calls"),
    ],
)
def test_the_reason_of_an_end_is_understood_in_the_words_of_others(
    reason: str, finish_reason: str
) -> None:
    turn = assemble(stream(piece(id="1", name="write", arguments='{"a": "b"}'), finish=reason))

    assert turn.finish_reason == finish_reason
    assert bool(turn.tool_calls) == (finish_reason == "tool_calls")


@pytest.mark.parametrize(
    "reason",
    [
        *("insufficient_system_resource", "abort", "network_error", "server_error", "timeout"),
        *("time_limit", "user_cancel"),
    ],
)
def test_an_answer_that_broke_off_at_the_provider_is_an_error_though_it_has_an_end(
    reason: str,
) -> None:
    with pytest.raises(ReportedError) as raised:
        assemble(stream({"content": "half"}, piece(id="1", name="write"), finish=reason))
    assert raised.value.report == {"code": reason}


def test_an_error_beside_the_last_choice_is_told() -> None:
    choice = {"delta": {}, "finish_reason": "error", "error": {"message": "Upstream went away"}}

    with pytest.raises(ReportedError) as raised:
        assemble(json.dumps({"choices": [choice]}).encode() + b"\ndata: [DONE]\n\n")
    assert raised.value.report == {"message": "Upstream went away"}


@pytest.mark.parametrize("reason", ["null", "not_finished"])
def test_a_reason_that_is_none_ends_nothing(reason: str) -> None:
    with pytest.raises(BrokenTurnError):
        assemble(stream({"content": "half"}, finish=reason, done=False))


@pytest.mark.parametrize("indent", [None, 2])
def test_an_error_in_place_of_the_stream_is_told_however_it_is_set_out(indent: int | None) -> None:
    with pytest.raises(ReportedError) as raised:
        assemble(json.dumps({"error": "model crashed"}, indent=indent).encode() + b"\n")
    assert raised.value.report == {"message": "model crashed"}


def test_the_end_of_a_stream_may_come_as_a_message() -> None:
    raw = b'data: {"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}\n\n'

    assert assemble(raw).text == "a"


def test_a_message_at_the_end_says_nothing_again_that_was_streamed() -> None:
    message = {"content": "Hello", **piece(None, id="1", name="one", arguments='{"a": 1}')}
    streamed = [{"content": "Hel"}, {"content": "lo"}]
    calls = [piece(id="1", name="one", arguments='{"a":1}')]
    choice = {"message": message, "finish_reason": "tool_calls"}
    end = {"choices": [choice], "usage": {"prompt_tokens": 7}}

    for deltas in ([*streamed, *calls], streamed, calls):
        raw = stream(*deltas, finish=None, done=False) + f"data: {json.dumps(end)}\n\n".encode()
        turn = assemble(raw)
        assert (turn.text, called(turn)) == ("Hello", [("one", {"a": 1})])
        assert (turn.finish_reason, turn.input_tokens) == ("tool_calls", 7)


CALLS: list[tuple[str, list[dict[str, Any]], list[tuple[str, Any]]]] = [
    (
        "interleaved",
        [
            piece(0, id="a", name="one"),
            piece(1, id="b", name="two"),
            piece(0, arguments='{"x"'),
            piece(1, arguments='{"y": 2'),
            piece(0, arguments=": 1}"),
            piece(1, arguments="}"),
        ],
        [("one", {"x": 1}), ("two", {"y": 2})],
    ),
    (
        "one index used twice",
        [
            piece(0, id="a", name="one", arguments='{"x": 1}'),
            piece(0, id="b", name="two", arguments='{"y": 2}'),
        ],
        [("one", {"x": 1}), ("two", {"y": 2})],
    ),
    (
        "no index and no id",
        [
            piece(None, name="one", arguments='{"x": 1}'),
            piece(None, name="one", arguments='{"x": 1}'),
        ],
        [("one", {"x": 1}), ("one", {"x": 1})],
    ),
    (
        "one id for two calls",
        [piece(0, id="a", name="one", arguments="{}"), piece(1, id="a", name="two")],
        [("one", {}), ("two", {})],
    ),
    (
        "a late id",
        [piece(0, name="one"), piece(0, id="a", arguments='{"x": 1}')],
        [("one", {"x": 1})],
    ),
    (
        "another id in each piece",
        [
            piece(0, id="a", name="one"),
            piece(0, id="b", arguments='{"x"'),
            piece(0, id="c", arguments=": 1}"),
        ],
        [("one", {"x": 1})],
    ),
    (
        "a name in pieces",
        [piece(0, id="a", name="read_"), piece(0, name="file"), piece(0, arguments="{}")],
        [("read_file", {})],
    ),
    (
        "arguments sent again",
        [
            piece(0, id="a", name="one", arguments='{"x": 1}'),
            piece(0, id="a", name="one", arguments='{"x": 1}'),
        ],
        [("one", {"x": 1})],
    ),
    ("arguments as an object", [piece(0, name="one", arguments={"x": 1})], [("one", {"x": 1})]),
    ("nonsense beside", [piece(0, name="one"), {"tool_calls": [None, 3]}], [("one", {})]),
]


@pytest.mark.parametrize(("deltas", "expected"), [pytest.param(*c[1:], id=c[0]) for c in CALLS])
@pytest.mark.parametrize("finish", ["tool_calls", "stop", None])
def test_calls_are_assembled_however_they_come(
    deltas: list[dict[str, Any]], expected: list[tuple[str, Any]], finish: str | None
) -> None:
    turn = assemble(stream(*deltas, finish=finish))

    assert called(turn) == expected
    assert turn.finish_reason == "tool_calls"


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.booleans())
def test_arguments_in_one_piece_or_in_fifty_are_the_same(cuts: list[int], with_id: bool) -> None:
    arguments = json.dumps({"path": "é/}{.md", "content": 'a "quoted" {"text": 1}\n' * 3})
    pieces: list[str] = []
    for cut in cuts:
        pieces.append(arguments[:cut])
        arguments = arguments[cut:]
    pieces.append(arguments)
    extra = {"id": "a"} if with_id else {}
    deltas = [piece(0, name="write", id="a"), *(piece(0, arguments=p, **extra) for p in pieces)]

    assert called(assemble(stream(*deltas))) == [("write", json.loads("".join(pieces)))]


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["<think>secret</think>\n\nAnswer"], "Answer"),
        (["<th", "ink>sec", "ret</thi", "nk>", "\n", " Answer", " more"], "Answer more"),
        (["\n<think></think>", "Answer"], "Answer"),
        (["<thin ice"], "<thin ice"),
        ([" \n", "Answer"], " \nAnswer"),
        (["Use <think>", " tags</think>"], "Use <think> tags</think>"),
        (["<think>never closed"], ""),
        (["<thi"], "<thi"),
        (["<think>a</think>\n<thi", "nk>b</think>", "\nAnswer"], "Answer"),
        (["<think>a</think>\n<thin ice"], "<thin ice"),
    ],
)
def test_thoughts_at_the_start_of_an_answer_are_left_out(pieces: list[str], shown: str) -> None:
    assert assemble(stream(*({"content": p} for p in pieces), finish="stop")).text == shown


def test_an_emoji_cut_between_two_chunks_is_whole_again() -> None:
    raw = (
        b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"\\ude00b"}}]}\n\ndata: [DONE]\n\n'
    )

    assert assemble(raw).text == "a😀b"


def test_half_an_emoji_alone_becomes_the_replacement_character() -> None:
    assert assemble(
        b'{"choices":[{"delta":{"content":"a\\ud83d"}}]}\n[DONE]\ndata: [DONE]'
    ).text == ("a\ufffd")


def test_reasoning_is_kept_apart_from_the_text() -> None:
    turn = assemble(stream({"reasoning_content": "hm"}, {"content": "Answer"}, finish="stop"))

    assert (turn.reasoning, turn.text) == ("hm", "Answer")


def test_text_in_parts_is_read_without_its_thoughts() -> None:
    content = [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "Yes"}]

    assert assemble(stream({"content": content}, finish="stop")).text == "Yes"


@pytest.mark.parametrize("usage", [{"usage": {"prompt_tokens": 7, "completion_tokens": 3}}])
@pytest.mark.parametrize("place", ["end", "every", "groq"])
def test_usage_is_found_wherever_it_is(usage: dict[str, Any], place: str) -> None:
    first: dict[str, Any] = {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}
    if place == "every":
        first["usage"] = {"prompt_tokens": 7, "completion_tokens": 1}
    last: dict[str, Any] = {"choices": [], **({"x_groq": usage} if place == "groq" else usage)}

    turn = assemble(CUT_UP.format(json.dumps(first), json.dumps(last)).encode())

    assert (turn.input_tokens, turn.output_tokens) == (7, 3)


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 3, "tool_calls": {"a": 1}}}]},
        {"usage": "many"},
    ],
)
def test_a_chunk_of_another_shape_says_nothing(chunk: dict[str, Any]) -> None:
    assert CompletionAssembler().feed(chunk) == ""


def test_an_answer_that_was_not_streamed_is_read_as_well() -> None:
    message = {"content": "Hello", "tool_calls": [piece(None, id="a", name="one")["tool_calls"][0]]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assembler = CompletionAssembler()

    assert assembler.feed(whole_completion(body)) == "Hello"
    assert called(assembler.turn(ended=True)) == [("one", {})]
