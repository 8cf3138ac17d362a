"""The OpenAI-compatible provider over HTTP, against a server on loopback."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from archivolt.adapters.chat_models import OutboundChatModels
from archivolt.adapters.models.table import ModelTable
from archivolt.adapters.openai.dialects import Dialect
from archivolt.adapters.openai.format import OpenAIFormat
from archivolt.adapters.streaming.failures import reported_failure, status_failure
from archivolt.adapters.streaming.model import StreamedChatModel
from archivolt.adapters.streaming.opening import MAX_ADAPTATIONS
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.domain.tool import Declaration
from archivolt.ports.chat_model import (
    ModelEvent,
    ModelImage,
    ModelMessage,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    ProviderConnection,
    TextDelta,
)
from tests.fakes.openai_server import (
    OpenAIServer,
    Reply,
    calls,
    chunks,
    failure,
    openai_server,
    says,
)

KEY = "sk-proj-0123456789abcdef"
TOOL = Declaration(type="function", function={"name": "search", "parameters": {"type": "object"}})
QUESTION = ModelRequest(
    messages=[ModelMessage(role="user", text="?")], model="m-1", max_tokens=50, tools=[TOOL]
)
PATIENCE = httpx2.Timeout(5.0)


class Pauses:
    """Remembers how long the adapter would have waited."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def ask(
    base_url: str,
    request: ModelRequest = QUESTION,
    *,
    key: str = KEY,
    pauses: Pauses | None = None,
    timeout: httpx2.Timeout = PATIENCE,
    linger: float = 5.0,
) -> list[ModelEvent]:
    async def run() -> list[ModelEvent]:
        async with httpx2.AsyncClient() as client:
            connection = ProviderConnection(provider="acme-ai", base_url=base_url, key=key)
            model = StreamedChatModel(
                client,
                OpenAIFormat(),
                connection,
                ModelTable(),
                pause=pauses or Pauses(),
                timeout=timeout,
                linger=linger,
            )
            return [event async for event in model.create_message(request)]

    return asyncio.run(run())


def refused(server: OpenAIServer, pauses: Pauses | None = None) -> ArchivoltError:
    with pytest.raises(ArchivoltError) as raised:
        ask(server.base_url, pauses=pauses)
    return raised.value


def test_an_answer_streams_and_ends_with_the_whole_turn() -> None:
    with openai_server(says("Bon", "jour")) as server:
        events = ask(server.base_url)

    assert events == [
        TextDelta(text="Bon"),
        TextDelta(text="jour"),
        ModelTurn(text="Bonjour", finish_reason="stop", input_tokens=7, output_tokens=3),
    ]


def test_the_first_words_come_before_the_last() -> None:
    first, *_ = says("early").pieces

    async def first_event(url: str) -> ModelEvent:
        async with httpx2.AsyncClient() as client:
            connection = ProviderConnection(provider="p", base_url=url)
            model = StreamedChatModel(
                client, OpenAIFormat(), connection, ModelTable(), timeout=PATIENCE
            )
            stream = model.create_message(QUESTION)
            event = await anext(stream)
            await stream.aclose()
            return event

    with openai_server(Reply(pieces=[first], hangs=True)) as server:
        assert asyncio.run(first_event(server.base_url)) == TextDelta(text="early")


def test_calls_come_with_the_turn() -> None:
    with openai_server(calls(("search", {"q": "x"}))) as server:
        [arguments, turn] = ask(server.base_url)

    assert arguments == TextDelta(text="", unseen=len('{"q": "x"}'))
    assert isinstance(turn, ModelTurn)
    assert turn.tool_calls == (ModelToolCall(id="call_0", name="search", arguments='{"q": "x"}'),)
    assert turn.finish_reason == "tool_calls"


def test_the_request_has_what_the_wire_format_asks_for() -> None:
    call = ModelToolCall(id="c1", name="search", arguments='{"q": "x"}')
    broken = ModelToolCall(id="c2", name="search", arguments='{"q": ')
    messages = [
        ModelMessage(role="system", text="Rules"),
        ModelMessage(role="user", text="?"),
        ModelMessage(role="assistant", text="Hm", tool_calls=(call, broken), reasoning="because"),
        ModelMessage(role="tool", text="found", tool_call_id="c1"),
    ]

    with openai_server(says("ok")) as server:
        ask(server.base_url, ModelRequest(messages=messages, model="m", max_tokens=9, tools=[TOOL]))

    [sent] = server.requests
    assert sent["messages"] == [
        {"role": "system", "content": "Rules"},
        {"role": "user", "content": "?"},
        {
            "role": "assistant",
            "content": "Hm",
            "reasoning_content": "because",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "search", "arguments": '{"q": "x"}'},
                },
                {"id": "c2", "type": "function", "function": {"name": "search", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "content": "found", "tool_call_id": "c1"},
        {"role": "tool", "content": "The call was not run.", "tool_call_id": "c2"},
    ]
    assert (sent["model"], sent["max_tokens"], sent["stream"]) == ("m", 9, True)
    assert sent["tools"] == [TOOL]
    assert "tool_choice" not in sent
    assert server.sent_headers[0]["authorization"] == f"Bearer {KEY}"


def test_details_of_reasoning_and_signatures_of_calls_come_back_with_the_turn() -> None:
    entry: dict[str, Any] = {
        "index": 0,
        "id": "theirs",
        "function": {"name": "search", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "signed"}},
    }
    thought = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    deltas: list[dict[str, Any]] = [
        {"reasoning_details": [{**thought, "text": "Let me "}]},
        {"reasoning_details": [{**thought, "text": "look."}, "odd"]},
        {"reasoning_details": [{**thought, "signature": "sig", "text": None}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "abc"}]},
        {"tool_calls": [entry]},
    ]
    with openai_server(chunks(*deltas, finish="tool_calls"), says("ok")) as server:
        turn = ask(server.base_url)[-1]
        assert isinstance(turn, ModelTurn)
        [call] = turn.tool_calls
        ours = replace(call, id="ours")
        history = [
            ModelMessage(role="user", text="?"),
            ModelMessage(role="assistant", tool_calls=(ours,), echo=turn.echo),
            ModelMessage(role="tool", text="found", tool_call_id="ours"),
        ]
        ask(server.base_url, ModelRequest(messages=history, model="m", max_tokens=9))

    sent = server.requests[1]["messages"][1]
    assert sent["reasoning_details"] == [
        {**thought, "text": "Let me look.", "signature": "sig"},
        {"type": "reasoning.encrypted", "index": 1, "data": "abc"},
    ]
    assert sent["tool_calls"][0]["id"] == "ours"
    assert sent["tool_calls"][0]["extra_content"] == entry["extra_content"]


def test_images_go_beside_the_text_in_a_content_array() -> None:
    image = ModelImage(media_type="image/png", data="AAAA")
    shown = ModelMessage(role="user", text="What?", images=(image,))

    with openai_server(says("ok")) as server:
        ask(server.base_url, ModelRequest(messages=[shown], model="m", max_tokens=9))

    assert server.requests[0]["messages"][0]["content"] == [
        {"type": "text", "text": "What?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]


def test_a_result_without_its_call_is_not_sent_and_results_follow_their_calls() -> None:
    one = ModelToolCall(id="1", name="search", arguments="{}")
    two = ModelToolCall(id="2", name="search", arguments="{}")
    history = [
        ModelMessage(role="tool", text="of nobody", tool_call_id="0"),
        ModelMessage(role="assistant", tool_calls=(one, two)),
        ModelMessage(role="tool", text="second", tool_call_id="2"),
        ModelMessage(role="tool", text="first", tool_call_id="1"),
        ModelMessage(role="tool", text="again", tool_call_id="1"),
        ModelMessage(role="user", text="And?"),
        ModelMessage(role="tool", text="late", tool_call_id="2"),
    ]

    with openai_server(says("ok")) as server:
        ask(server.base_url, ModelRequest(messages=history, model="m", max_tokens=9))

    assert [
        (sent.get("tool_call_id"), sent["content"]) for sent in server.requests[0]["messages"]
    ] == [(None, ""), ("1", "first"), ("2", "second"), (None, "And?")]


def test_a_model_that_may_only_answer_still_sees_the_tools() -> None:
    request = ModelRequest(
        messages=QUESTION.messages, model="m", max_tokens=9, tools=[TOOL], answer_only=True
    )

    with openai_server(says("ok")) as server:
        ask(server.base_url, request)

    assert server.requests[0]["tools"] == [TOOL]
    assert server.requests[0]["tool_choice"] == "none"


def test_without_a_key_no_authorization_is_sent() -> None:
    with openai_server(says("ok")) as server:
        ask(server.base_url, key="")

    assert "authorization" not in server.sent_headers[0]


@pytest.mark.parametrize("suffix", ["", "/", "/chat/completions"])
def test_the_address_may_be_written_in_several_ways(suffix: str) -> None:
    with openai_server(says("ok")) as server:
        assert ask(server.base_url + suffix)[-1] == ModelTurn(
            text="ok", input_tokens=7, output_tokens=3
        )


def test_a_busy_provider_is_asked_again_after_a_pause() -> None:
    pauses = Pauses()

    with openai_server(failure(503), failure(429, retry_after="3"), says("ok")) as server:
        events = ask(server.base_url, pauses=pauses)

    assert events[0] == TextDelta(text="ok")
    assert pauses.seconds == [0.5, 3.0]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (failure(500), "provider_unavailable"),
        (failure(429), "provider_busy"),
        (Reply(cut=True), "provider_unavailable"),
    ],
)
def test_a_provider_that_stays_down_is_unavailable(reply: Reply, code: str) -> None:
    pauses = Pauses()

    with openai_server(reply, reply, reply) as server:
        error = refused(server, pauses)

    assert isinstance(error, UnavailableError)
    assert error.code == code
    assert error.details["provider"] == "acme-ai"
    assert len(server.requests) == 3
    assert pauses.seconds == [0.5, 2.0]


def test_a_provider_that_asks_for_a_long_wait_is_not_waited_for() -> None:
    with openai_server(failure(429, retry_after="60")) as server:
        refused(server)

    assert len(server.requests) == 1


def test_nobody_at_the_address_is_unavailable() -> None:
    with openai_server() as server:
        gone = server.base_url

    with pytest.raises(UnavailableError, match="provider_unavailable"):
        ask(gone)


def test_nothing_is_tried_again_after_the_first_byte() -> None:
    half = says("half").pieces[:1]

    with openai_server(Reply(pieces=half, cut=True), says("again")) as server:
        error = refused(server)

    assert error.code == "provider_unavailable"
    assert len(server.requests) == 1


def test_a_stream_that_is_over_and_never_closed_is_not_waited_for() -> None:
    *over, _done = says("whole").pieces

    with openai_server(Reply(pieces=over, hangs=True)) as server:
        events = ask(server.base_url, linger=0.05)

    assert events[-1] == ModelTurn(text="whole", input_tokens=7, output_tokens=3)


def test_silence_between_chunks_ends_the_wait() -> None:
    half = says("half").pieces[:1]

    with (
        openai_server(Reply(pieces=half, hangs=True)) as server,
        pytest.raises(UnavailableError, match="no answer in time"),
    ):
        ask(server.base_url, timeout=httpx2.Timeout(0.1))


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "provider_refused"),
        (402, "provider_credit_spent"),
        (404, "provider_model_unknown"),
        (413, "provider_refused"),
        (422, "provider_refused"),
    ],
)
def test_a_request_that_cannot_work_is_refused_with_the_providers_reason(
    status: int, code: str
) -> None:
    with openai_server(failure(status, "model `m-1` does not exist")) as server:
        error = refused(server)

    assert isinstance(error, InvalidRequestError)
    assert error.code == code
    assert "model `m-1` does not exist" in str(error.details["reason"])
    assert len(server.requests) == 1


def test_spent_credit_is_not_asked_for_again() -> None:
    body = b'{"error": {"message": "Buy credits", "code": "insufficient_quota"}}'
    reply = Reply(pieces=[body], status=429, content_type="application/json")

    with openai_server(reply) as server:
        assert refused(server).code == "provider_credit_spent"
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_accepted_has_an_error_of_its_own(status: int) -> None:
    with openai_server(failure(status)) as server:
        error = refused(server)

    assert isinstance(error, InvalidRequestError)
    assert error.code == "provider_key_refused"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        failure(401, f"Incorrect API key provided: {KEY}"),
        failure(403, f"Key {KEY} is not allowed"),
        failure(400, f"Bad header Authorization: Bearer {KEY}"),
        failure(500, f"Crash with {KEY}"),
        failure(404, "unknown key sk-pr****cdef"),
        Reply(pieces=[f'data: {{"error": {{"message": "{KEY}"}}}}\n\n'.encode()]),
    ],
)
def test_a_key_never_shows_in_an_error(reply: Reply) -> None:
    with openai_server(reply, reply, reply) as server:
        error = refused(server)

    shown = f"{error} {error.details}"
    assert KEY not in shown
    assert "sk-p" not in shown


def test_the_name_of_a_model_shows_in_an_error_however_long_it_is() -> None:
    with openai_server(failure(404, "model: claude-sonnet-4-5-20250929 not found")) as server:
        assert "claude-sonnet-4-5-20250929" in str(refused(server).details["reason"])


@pytest.mark.parametrize(
    "secret",
    [
        "AIza" + "SyD4x7Qm2Lk9Rt5Vb8Nc1Zp3Wf6Hg0J",
        "0123456789abcdef" * 2,
        "org-" + "a1b2c3d4e5f6a7b8c9d0e1f2",
        "a-b-" + "0123456789abcdef01234567-c",
    ],
)
def test_what_looks_like_somebodys_key_shows_in_no_error(secret: str) -> None:
    with openai_server(failure(400, f"bad {secret} given")) as server:
        assert secret not in str(refused(server).details["reason"])


def test_an_error_within_the_stream_is_an_error() -> None:
    good, *_ = says("half").pieces
    bad = b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'

    with openai_server(Reply(pieces=[good, bad])) as server:
        error = refused(server)

    assert error.code == "provider_unavailable"
    assert error.details["reason"] == "overloaded"


@pytest.mark.parametrize("in_the_stream", [True, False])
def test_a_call_that_the_provider_could_not_read_is_for_the_model_to_write_again(
    in_the_stream: bool,
) -> None:
    report = b'{"error": {"message": "Failed to call", "code": "tool_use_failed"}}'
    half, *_ = says("half").pieces
    streamed = Reply(pieces=[half, b"data: " + report + b"\n\n"])
    refused_at_once = Reply(pieces=[report], status=400, content_type="application/json")

    with openai_server(streamed if in_the_stream else refused_at_once) as server:
        turn = ask(server.base_url)[-1]

    assert turn == ModelTurn(text="half" if in_the_stream else "", finish_reason="malformed")
    assert len(server.requests) == 1


def test_a_hostile_reason_is_shortened_and_has_no_control_characters() -> None:
    with openai_server(failure(400, "a\x1b[31m<b>" + "word " * 500)) as server:
        reason = str(refused(server).details["reason"])

    assert len(reason) < 400
    assert not set("\x1b<>") & set(reason)


@pytest.mark.parametrize(
    ("complaint", "dropped", "limit"),
    [
        ("Unrecognized request argument: stream_options", "stream_options", "max_tokens"),
        (
            "Use 'max_completion_tokens' instead of 'max_tokens'.",
            "max_tokens",
            "max_completion_tokens",
        ),
    ],
)
def test_a_provider_that_lacks_a_parameter_is_asked_without_it(
    complaint: str, dropped: str, limit: str
) -> None:
    with openai_server(failure(400, complaint), says("ok")) as server:
        assert ask(server.base_url)[0] == TextDelta(text="ok")

    first, second = server.requests
    assert dropped in first
    assert dropped not in second
    assert second[limit] == 50


def test_what_a_model_does_not_take_is_remembered_for_the_next_question() -> None:
    complaints = (
        failure(400, "Use 'max_completion_tokens' instead of 'max_tokens'."),
        failure(400, "This model supports at most 40 completion tokens"),
    )

    async def ask_twice(base_url: str) -> None:
        async with httpx2.AsyncClient() as client:
            models = OutboundChatModels(lambda: client, ModelTable())
            for _ in range(2):
                model = models.connect(ProviderConnection(provider="p", base_url=base_url))
                async for _event in model.create_message(QUESTION):
                    pass

    with openai_server(*complaints, says("ok"), says("ok")) as server:
        asyncio.run(ask_twice(server.base_url))

    limits = [
        {name: sent[name] for name in sent if name.startswith("max_")} for sent in server.requests
    ]
    assert limits == [
        {"max_tokens": 50},
        {"max_completion_tokens": 50},
        {"max_completion_tokens": 40},
        {"max_completion_tokens": 40},
    ]


@pytest.mark.parametrize(
    ("complaint", "added", "value"),
    [
        (
            (
                "Function tools with reasoning_effort are not supported for gpt-6.1-sol in /v1/"
                "chat/completions. To use function tools, use /v1/responses or set it to 'none'."
            ),
            "reasoning_effort",
            "none",
        ),
        (
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            "thinking",
            {"type": "disabled"},
        ),
    ],
)
def test_a_model_that_cannot_think_and_call_tools_is_asked_not_to_think(
    complaint: str, added: str, value: object
) -> None:
    with openai_server(failure(400, complaint), says("ok")) as server:
        assert ask(server.base_url)[0] == TextDelta(text="ok")

    first, second = server.requests
    assert added not in first
    assert second == first | {added: value}


def test_a_model_that_is_given_no_tools_may_think() -> None:
    body = {"model": "m-1", "max_tokens": 50}

    assert Dialect(reasons=False).spoken(body) == body


def test_a_provider_that_is_never_content_is_given_up() -> None:
    complaints = [
        failure(400, f"This model supports at most {most} completion tokens")
        for most in range(49, 9, -1)
    ]

    with openai_server(*complaints) as server:
        assert refused(server).code == "provider_refused"
    assert len(server.requests) == 1 + MAX_ADAPTATIONS


def test_a_complaint_about_something_else_is_asked_about_once() -> None:
    with openai_server(failure(400, "max_tokens and stream are fine, the rest is not")) as server:
        assert refused(server).code == "provider_refused"
    assert len(server.requests) == 1


def test_an_answer_that_is_not_streamed_is_read_as_well() -> None:
    body = b'{"choices": [{"message": {"content": "Whole"}, "finish_reason": "stop"}]}'

    with openai_server(Reply(pieces=[body], content_type="application/json")) as server:
        assert ask(server.base_url) == [TextDelta(text="Whole"), ModelTurn(text="Whole")]


def test_a_stream_that_is_called_json_is_read_as_well() -> None:
    whole = says("Bon", "jour")

    with openai_server(Reply(pieces=whole.pieces, content_type="application/json")) as server:
        assert ask(server.base_url)[0] == TextDelta(text="Bon")


@pytest.mark.parametrize(
    ("complaint", "most"),
    [
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 40]", 40),
        ("Range of max_tokens should be [1, 40]", 40),
        ("`max_completion_tokens` must be less than or equal to `40`, the maximum value", 40),
        ("max_tokens for `llama-3.1-8b-instant` must be less than or equal to 40", 40),
    ],
)
def test_fewer_tokens_are_asked_for_where_the_model_writes_less(complaint: str, most: int) -> None:
    assert Dialect().learned(json.dumps({"message": complaint})) == Dialect(most=most)


@pytest.mark.parametrize(
    ("complaint", "room"),
    [
        (
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum "
                "context length is 8192 tokens and your request has 7000 input tokens "
                "(4096 > 8192 - 7000)."
            ),
            1192,
        ),
        (
            (
                "This endpoint's maximum context length is 8192 tokens. However, you requested "
                "about 11096 tokens (7000 of text input, 4096 in the output)."
            ),
            1192,
        ),
        (
            (
                "This model's maximum context length is 8192 tokens. However, you requested 12188 "
                "tokens (8092 in the messages, 4096 in the completion)."
            ),
            None,
        ),
        (
            (
                "This model's maximum context length is 8192 tokens. However, you requested 9000 "
                "tokens (4500 in the messages, 404 in the functions, and 4096 in the completion)."
            ),
            3288,
        ),
        (
            (
                "This endpoint's maximum context length is 8192 tokens. However, you requested "
                "about 11596 tokens (7000 of text input, 500 of tool input, 4096 in the output)."
            ),
            692,
        ),
    ],
)
def test_an_answer_is_asked_for_that_the_window_has_room_for(
    complaint: str, room: int | None
) -> None:
    wire = OpenAIFormat()
    body = wire.body(replace(QUESTION, max_tokens=4096))

    adapted = wire.adapted(body, json.dumps({"message": complaint}))

    assert adapted == (None if room is None else body | {"max_tokens": room})
    assert wire.body(replace(QUESTION, max_tokens=4096)) == body


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 9", 8192),
        (
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            32768,
        ),
        ("prompt is too long: 215000 tokens > 200000 maximum", 200_000),
        ("input length and `max_tokens` exceed context limit: 199900 + 4096 > 200000", 200_000),
        (
            "The input token count (9) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
        ),
        ("request (9001 tokens) exceeds the available context size (8192 tokens)", 8192),
        ("Please reduce the length of the messages or completion.", 0),
    ],
)
def test_a_question_that_is_too_long_is_told_with_the_window(message: str, window: int) -> None:
    report = {"message": message, "code": "context_length_exceeded"}

    for told in (status_failure("p", 400, report, ""), reported_failure("p", report, "")):
        assert isinstance(told, InvalidRequestError)
        assert told.details["window"] == window


def test_a_refusal_within_a_stream_is_one_by_its_code_alone() -> None:
    refused = reported_failure("p", {"message": "This model takes no images", "code": 400}, "")
    passing = reported_failure("p", {"message": "Upstream is slow", "code": 408}, "")

    assert (refused.code, passing.code) == ("provider_refused", "provider_unavailable")


def test_of_a_tool_as_much_is_told_as_the_model_reads() -> None:
    wire = OpenAIFormat()
    function = {"name": "think", "description": "d" * 3_000, "parameters": {"type": "object"}}
    asked = replace(QUESTION, tools=[TOOL, Declaration(type="function", function=function)])
    complaint = (
        "Invalid 'tools[1].function.description': string too long. Expected a string with "
        "maximum length 1024, but got a string with length 3000 instead."
    )

    adapted = wire.adapted(wire.body(asked), json.dumps({"message": complaint}))

    assert adapted is not None
    assert adapted["tools"] == [
        TOOL,
        {"type": "function", "function": function | {"description": "d" * 1_023 + "…"}},
    ]
    assert wire.body(asked) == adapted


def test_a_model_speaks_between_a_tool_and_a_person_where_that_is_asked_for() -> None:
    wire = OpenAIFormat()
    call = ModelToolCall(id="c1", name="search", arguments="{}")
    said = [
        ModelMessage(role="user", text="Delete it."),
        ModelMessage(role="assistant", text="", tool_calls=(call,)),
        ModelMessage(role="tool", text="declined", tool_call_id="c1"),
        ModelMessage(role="user", text="Another one, then."),
    ]
    body = wire.body(replace(QUESTION, messages=said))

    adapted = wire.adapted(body, "Unexpected role 'user' after role 'tool'")

    assert adapted is not None
    roles = [message["role"] for message in adapted["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert wire.body(replace(QUESTION, messages=said)) == adapted


def test_an_answer_without_a_word_is_not_sent_and_what_a_person_says_is_one_message() -> None:
    said = [
        ModelMessage(role="user", text="Write it."),
        ModelMessage(role="assistant", text=""),
        ModelMessage(role="user", text="Your last call was malformed."),
    ]

    sent = OpenAIFormat().body(replace(QUESTION, messages=said))["messages"]

    assert sent == [{"role": "user", "content": "Write it.\n\nYour last call was malformed."}]


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (
            {
                "message": "Provider returned error",
                "metadata": {"raw": '{"object": "error", "message": "No such tool choice"}'},
            },
            "HTTP 400, Provider returned error: No such tool choice",
        ),
        (
            {"message": {"detail": [{"loc": ["body", "x"]}]}},
            'HTTP 400, {"detail": [{"loc": ["body", "x"]}]}',
        ),
    ],
)
def test_what_is_behind_an_error_is_told(report: dict[str, object], reason: str) -> None:
    body = json.dumps({"error": report}).encode()
    answer = Reply(pieces=[body], status=400, content_type="application/json")

    with openai_server(answer) as server:
        assert refused(server).details["reason"] == reason


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{", b""])
def test_a_page_instead_of_an_answer_is_unavailable(body: bytes) -> None:
    for kind in ("application/json", "text/html"):
        with openai_server(Reply(pieces=[body] if body else [], content_type=kind)) as server:
            assert refused(server).code == "provider_unavailable"


@pytest.mark.parametrize("address", ["ftp://x/v1", "nowhere", "http://[::1"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidRequestError, match="provider_refused"):
        ask(address)
