"""One request and its answer over HTTP, in Anthropic's and Gemini's formats."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from archivolt.adapters.chat_models import provider_format
from archivolt.adapters.models.table import ModelTable
from archivolt.adapters.streaming.declarations import sent_name
from archivolt.adapters.streaming.model import MAX_PAUSED_TURNS, StreamedChatModel
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.domain.providers import WireFormat
from archivolt.domain.tool import Declaration
from archivolt.ports.chat_model import (
    ModelEvent,
    ModelMessage,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    ProviderConnection,
    TextDelta,
    UnsentError,
)
from tests.fakes.openai_server import OpenAIServer, Reply, chunks, openai_server, says
from tests.fakes.provider_streams import (
    anthropic_calls,
    anthropic_says,
    anthropic_stream,
    anthropic_text,
    gemini_calls,
    gemini_says,
    gemini_stream,
    lines,
)

KEY = "not-a-" + "real-key-0123456789"
TOOL = Declaration(type="function", function={"name": "search", "parameters": {"type": "object"}})
SAYS = {WireFormat.ANTHROPIC: anthropic_says, WireFormat.GEMINI: gemini_says}
CALLS = {WireFormat.ANTHROPIC: anthropic_calls, WireFormat.GEMINI: gemini_calls}
BOTH = pytest.mark.parametrize("spoken", SAYS)
EVERY = pytest.mark.parametrize("spoken", WireFormat)


async def no_pause(seconds: float) -> None:
    """Wait for nothing."""
    assert seconds <= 8


def model(
    client: httpx2.AsyncClient, spoken: WireFormat, base_url: str, key: str = KEY
) -> StreamedChatModel:
    connection = ProviderConnection(
        provider=spoken.value, base_url=base_url, key=key, wire_format=spoken
    )
    return StreamedChatModel(
        client, provider_format(spoken), connection, ModelTable(), pause=no_pause
    )


def request(*messages: ModelMessage, tools: tuple[Declaration, ...] = (TOOL,)) -> ModelRequest:
    asked = messages or (ModelMessage(role="user", text="?"),)
    return ModelRequest(messages=asked, model="m-1", max_tokens=50, tools=tools)


def ask(
    server: OpenAIServer, spoken: WireFormat, asked: ModelRequest | None = None
) -> list[ModelEvent]:
    async def run() -> list[ModelEvent]:
        async with httpx2.AsyncClient() as client:
            opened = model(client, spoken, server.base_url)
            return [event async for event in opened.create_message(asked or request())]

    return asyncio.run(run())


def refused(server: OpenAIServer, spoken: WireFormat) -> ArchivoltError:
    with pytest.raises(ArchivoltError) as raised:
        ask(server, spoken)
    return raised.value


def offline(spoken: WireFormat, provider: str = "") -> StreamedChatModel:
    connection = ProviderConnection(provider=provider or spoken.value, wire_format=spoken)
    return StreamedChatModel(
        httpx2.AsyncClient(), provider_format(spoken), connection, ModelTable()
    )


@BOTH
def test_an_answer_streams_and_ends_with_the_whole_turn(spoken: WireFormat) -> None:
    with openai_server(SAYS[spoken]("Bonjour")) as server:
        *pieces, turn = ask(server, spoken)

    assert "".join(each.text for each in pieces if isinstance(each, TextDelta)) == "Bonjour"
    assert turn == ModelTurn(text="Bonjour", input_tokens=7, output_tokens=3)


THOUGHTS, ARGUMENTS = "Où est-ce ?", '{"q": "key"}'
FUNCTION = {"name": "search", "arguments": ARGUMENTS}


def opens(*deltas: dict[str, Any]) -> Reply:
    return chunks(*deltas, {"tool_calls": [{"index": 0, "id": "c", "function": FUNCTION}]})


@pytest.mark.parametrize(
    ("spoken", "reply", "unseen"),
    [
        (WireFormat.OPENAI, opens({"reasoning_content": THOUGHTS}), THOUGHTS + ARGUMENTS),
        (
            WireFormat.OPENAI,
            opens({"reasoning": THOUGHTS, "reasoning_details": [{"text": THOUGHTS}]}),
            THOUGHTS + ARGUMENTS,
        ),
        (
            WireFormat.OPENAI,
            opens({"content": [{"type": "thinking", "thinking": [{"text": THOUGHTS}]}]}),
            THOUGHTS + ARGUMENTS,
        ),
        (
            WireFormat.OPENAI,
            opens({"content": f"<think>{THOUGHTS}"}, {"content": "</think>"}),
            f"<think>{THOUGHTS}</think>{ARGUMENTS}",
        ),
        (WireFormat.ANTHROPIC, anthropic_calls("search", {"q": "key"}), "Hm." + ARGUMENTS),
        (
            WireFormat.GEMINI,
            Reply(pieces=[gemini_stream({"text": THOUGHTS, "thought": True}, {"text": "Yes"})]),
            THOUGHTS,
        ),
        (
            WireFormat.GEMINI,
            gemini_calls("search", {"q": "key"}),
            json.dumps({"name": "search", "args": {"q": "key"}}),
        ),
    ],
)
def test_what_nobody_is_shown_is_told_by_its_size(
    spoken: WireFormat, reply: Reply, unseen: str
) -> None:
    with openai_server(reply) as server:
        *pieces, _ = ask(server, spoken)

    told = [each.unseen for each in pieces if isinstance(each, TextDelta)]
    assert sum(told) == len(unseen.encode())


@pytest.mark.parametrize(
    ("spoken", "path", "header"),
    [
        (WireFormat.ANTHROPIC, "/v1/messages", "x-api-key"),
        (WireFormat.GEMINI, "/v1/models/m-1:streamGenerateContent?alt=sse", "x-goog-api-key"),
    ],
)
def test_the_key_goes_in_a_header_and_never_in_the_address(
    spoken: WireFormat, path: str, header: str
) -> None:
    with openai_server(SAYS[spoken]("ok")) as server:
        ask(server, spoken)

    assert server.paths == [path]
    assert server.sent_headers[0][header] == KEY
    assert "authorization" not in server.sent_headers[0]
    if spoken is WireFormat.ANTHROPIC:
        assert server.sent_headers[0]["anthropic-version"] == "2023-06-01"


@BOTH
def test_a_signed_call_and_its_result_come_back_as_the_provider_wants_them(
    spoken: WireFormat,
) -> None:
    with openai_server(CALLS[spoken]("search", {"q": "x"}), SAYS[spoken]("Found.")) as server:
        turn = ask(server, spoken)[-1]
        assert isinstance(turn, ModelTurn)
        [call] = turn.tool_calls
        ours = ModelToolCall(id="c1", name=call.name, arguments=call.arguments)
        history = request(
            ModelMessage(role="user", text="?"),
            ModelMessage(role="assistant", tool_calls=(ours,), echo=turn.echo),
            ModelMessage(role="tool", tool_call_id="c1", text="a result"),
        )
        assert ask(server, spoken, history)[-1] == ModelTurn(
            text="Found.", input_tokens=7, output_tokens=3
        )

    sent = json.dumps(server.requests[1])
    assert "signed-by-" in sent
    assert "a result" in sent


def error(status: int, kind: str, message: str = "no", **more: Any) -> Reply:  # noqa: ANN401
    report = {"type": kind, "status": kind.upper(), "code": status, "message": message, **more}
    body = json.dumps({"type": "error", "error": report}).encode()
    return Reply(pieces=[body], status=status, content_type="application/json")


@BOTH
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (error(401, "authentication_error"), "provider_key_refused"),
        (error(403, "permission_denied"), "provider_key_refused"),
        (error(400, "invalid_argument", "API key not valid."), "provider_key_refused"),
        (error(404, "not_found_error", "model: m-1"), "provider_model_unknown"),
        (error(429, "rate_limit_error"), "provider_busy"),
        (error(429, "resource_exhausted"), "provider_busy"),
        (error(529, "overloaded_error"), "provider_unavailable"),
        (error(503, "unavailable"), "provider_unavailable"),
        (error(400, "invalid_request_error", "bad"), "provider_refused"),
        (
            error(400, "invalid_request_error", "Your credit balance is too low"),
            "provider_credit_spent",
        ),
        (Reply(pieces=[lines({"error": {"type": "overloaded_error"}})]), "provider_unavailable"),
        (Reply(pieces=[lines({"error": {"code": 429}})]), "provider_busy"),
        (Reply(pieces=[lines({"error": {"type": "invalid_request_error"}})]), "provider_refused"),
        (Reply(pieces=[b"<html>"], content_type="text/html"), "provider_unavailable"),
        (Reply(pieces=[b"{"], content_type="application/json"), "provider_unavailable"),
    ],
)
def test_what_a_provider_says_has_a_code_of_ours(
    spoken: WireFormat, reply: Reply, code: str
) -> None:
    with openai_server(reply, reply, reply) as server:
        told = refused(server, spoken)

    assert told.code == code
    assert told.details["provider"] == spoken.value
    assert KEY not in f"{told} {told.details}"


def test_a_wait_that_gemini_asks_for_in_its_report_is_kept_to() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}]
    patient = error(429, "resource_exhausted", details=details)
    details = [{"retryDelay": "41.5s"}]
    impatient = error(429, "resource_exhausted", details=details)

    with openai_server(patient, gemini_says("ok")) as server:
        assert ask(server, WireFormat.GEMINI)[-1] == ModelTurn(
            text="ok", input_tokens=7, output_tokens=3
        )
    with openai_server(impatient) as server:
        assert isinstance(refused(server, WireFormat.GEMINI), UnavailableError)
        assert len(server.requests) == 1


@BOTH
def test_nothing_is_tried_again_after_the_first_byte(spoken: WireFormat) -> None:
    whole = SAYS[spoken]("half an answer").pieces[0]
    half = Reply(pieces=[whole[: len(whole) // 2]], cut=True)

    with openai_server(half, SAYS[spoken]("again")) as server:
        assert refused(server, spoken).code == "provider_unavailable"
        assert len(server.requests) == 1


@EVERY
def test_the_connection_of_an_answer_serves_the_next_question(spoken: WireFormat) -> None:
    answers = {**SAYS, WireFormat.OPENAI: says}
    reply = replace(answers[spoken]("Hm."), stays=True)

    async def run(base_url: str) -> None:
        async with httpx2.AsyncClient() as client:
            for _ in range(3):
                opened = model(client, spoken, base_url)
                assert [event async for event in opened.create_message(request())]

    with openai_server(reply, reply, reply) as server:
        asyncio.run(run(server.base_url))

    assert (len(server.requests), server.connections) == (3, 1)


def paused(query: str) -> Reply:
    call = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"q": query}}
    return Reply(pieces=[anthropic_stream(anthropic_text("Hm. "), (call, []), stop="pause_turn")])


def test_a_turn_that_the_provider_pauses_goes_on_and_is_one_turn() -> None:
    with openai_server(paused("a"), paused("b"), anthropic_says("Done.")) as server:
        *pieces, turn = ask(server, WireFormat.ANTHROPIC)

    said = "".join(each.text for each in pieces if isinstance(each, TextDelta))
    assert isinstance(turn, ModelTurn)
    assert (turn.text, said) == ("Hm. Hm. Done.", "Hm. Hm. Done.")
    assert (turn.finish_reason, turn.input_tokens, turn.output_tokens) == ("stop", 21, 9)
    sent_back = server.requests[2]["messages"][-1]
    assert sent_back["role"] == "assistant"
    assert [block.get("input") for block in sent_back["content"]] == [
        *(None, {"q": "a"}),
        *(None, {"q": "b"}),
    ]


def test_a_turn_that_is_paused_for_ever_is_given_up() -> None:
    with openai_server(*[paused("a")] * 9) as server:
        assert refused(server, WireFormat.ANTHROPIC).code == "provider_unavailable"
        assert len(server.requests) == 1 + MAX_PAUSED_TURNS


@EVERY
def test_an_mcp_tool_is_declared_as_the_provider_wants_it(spoken: WireFormat) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    tool = {"name": "search", "description": "Searches.", "inputSchema": schema}

    declared = offline(spoken).convert_mcp_tool(tool)

    inner: dict[str, Any] = declared.get("function", declared)
    assert (inner["name"], inner["description"]) == ("search", "Searches.")
    assert schema in inner.values()


@EVERY
def test_a_tool_without_arguments_can_be_declared(spoken: WireFormat) -> None:
    declared = offline(spoken).convert_mcp_tool({"name": "now"})

    assert "now" in json.dumps(declared)


ANSWERS: dict[WireFormat, dict[str, Any]] = {
    WireFormat.OPENAI: {
        "choices": [
            {
                "message": {
                    "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": ""}}]
                },
                "finish_reason": "tool_calls",
            }
        ]
    },
    WireFormat.ANTHROPIC: {
        "type": "message",
        "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}],
        "stop_reason": "tool_use",
    },
    WireFormat.GEMINI: {
        "candidates": [
            {
                "content": {"parts": [{"functionCall": {"id": "a", "name": "x"}}]},
                "finishReason": "STOP",
            }
        ]
    },
}


@EVERY
def test_the_calls_of_a_whole_answer_are_extracted(spoken: WireFormat) -> None:
    assert offline(spoken).extract_tool_calls(ANSWERS[spoken]) == (
        ModelToolCall(id="a", name="x", arguments="{}"),
    )


@EVERY
def test_an_error_in_place_of_a_whole_answer_is_an_error(spoken: WireFormat) -> None:
    with pytest.raises(InvalidRequestError, match="provider_refused"):
        offline(spoken).extract_tool_calls({"error": {"type": "invalid_request_error"}})


def test_what_a_call_costs_is_exact_and_never_guessed() -> None:
    provider = offline(WireFormat.OPENAI, "openai")

    assert provider.estimate_cost(1_000_000, 0, "gpt-4o") == Decimal("2.50")
    assert provider.estimate_cost(1, 1, "gpt-4o-2024-08-06") == Decimal("0.0000125")
    with pytest.raises(InvalidRequestError, match="model_price_unknown"):
        provider.estimate_cost(1, 1, "made-up")


@EVERY
def test_names_that_no_provider_takes_are_sent_under_others_and_come_back(
    spoken: WireFormat,
) -> None:
    ours = "mcp.sérver/a tool " + "x" * 60
    function = {"name": ours, "parameters": {"type": "object"}}
    tool = Declaration(type="function", function=function)
    sent = sent_name(ours)
    answer: Reply
    if spoken is WireFormat.OPENAI:
        called = {"index": 0, "id": "a", "function": {"name": sent, "arguments": "{}"}}
        answer = Reply(
            pieces=[lines({"choices": [{"delta": {"tool_calls": [called]}}]}) + b"data: [DONE]\n\n"]
        )
    else:
        answer = CALLS[spoken](sent, {})

    with openai_server(answer) as server:
        turn = ask(server, spoken, request(tools=(tool,)))[-1]

    assert isinstance(turn, ModelTurn)
    assert [call.name for call in turn.tool_calls] == [ours]
    assert sent in json.dumps(server.requests[0])
    assert ours not in json.dumps(server.requests[0], ensure_ascii=False)
    assert len(sent) <= 64
    assert sent.isascii()


@EVERY
def test_a_tool_is_made_once_for_a_format_and_no_request_changes_it(spoken: WireFormat) -> None:
    schema = {"type": "object", "properties": {"q": {"type": ["string", "null"]}}}
    function = {"name": "odd name", "description": "d", "parameters": schema}
    tool = Declaration(type="function", function=function)
    before = json.dumps(tool)

    with openai_server(Reply(status=400), says("Hello")) as server, suppress(ArchivoltError):
        ask(server, spoken, request(tools=(tool,)))
        ask(server, spoken, request(tools=(tool,)))

    asked = replace(request(tools=(tool,)), answer_only=True)
    first, second = (provider_format(spoken).body(asked) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
    assert json.dumps(tool) == before
    declared = [each["tools"][0] for each in (first, second)]
    if spoken is WireFormat.GEMINI:
        declared = [each["functionDeclarations"][0] for each in declared]
    assert declared[0] is declared[1]


@EVERY
@pytest.mark.parametrize("schema", [{"default": float("nan")}, {"title": "\ud800"}])
def test_a_request_that_cannot_be_written_was_not_sent(
    spoken: WireFormat, schema: dict[str, Any]
) -> None:
    described = {"type": "object", "properties": {"q": {"type": "string"}}, **schema}
    function = {"name": "t", "description": "\ud800", "parameters": described}
    asked = request(tools=(Declaration(type="function", function=function),))

    with openai_server() as server:
        with pytest.raises(UnsentError):
            ask(server, spoken, asked)
        assert server.requests == []
