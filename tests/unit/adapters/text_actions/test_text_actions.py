"""Models without tools: they search first, and act by the blocks they write (O17)."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.adapters.text_actions.blocks import ActionReader, block
from archivolt.adapters.text_actions.model import ModelWithoutTools, ToolFallback
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.domain.promptings import EMPTY_ANSWER
from archivolt.domain.tool import Declaration, JsonObject
from archivolt.domain.untrusted import wrap_data
from archivolt.ports.chat_model import (
    ModelEvent,
    ModelMessage,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    TextDelta,
)
from tests.fakes.models import ScriptedModel

NAMES = ("search_documents", "create_file", "create_directory", "delete_file")
TOOLS = [
    Declaration({"type": "function", "function": {"name": name, "parameters": {}}})
    for name in NAMES
]
RULES = ModelMessage(role="system", text="The rules.")
QUESTION = ModelMessage(role="user", text="Where is the key?")
CONTENT = "one\n```py\nx\n```\ntwo"
NOTE = {"action": "create_file", "vault": "v", "path": "a.md", "content": CONTENT}
ARGUMENTS = {name: value for name, value in NOTE.items() if name != "action"}


def request(*messages: ModelMessage, answer_only: bool = False) -> ModelRequest:
    return ModelRequest(
        messages=messages, model="m", max_tokens=9, tools=TOOLS, answer_only=answer_only
    )


def found(text: str) -> list[ModelMessage]:
    call = ModelToolCall(id="c1", name="search_documents", arguments="{}")
    result = wrap_data("search_documents", {"t": text})
    return [
        ModelMessage(role="assistant", tool_calls=(call,)),
        ModelMessage(role="tool", tool_call_id="c1", text=result),
    ]


def answer(model: ModelWithoutTools | ToolFallback, asked: ModelRequest) -> tuple[str, ModelTurn]:
    async def run() -> tuple[str, ModelTurn]:
        events = [event async for event in model.create_message(asked)]
        shown = "".join(event.text for event in events if isinstance(event, TextDelta))
        [turn] = [event for event in events if isinstance(event, ModelTurn)]
        assert events[-1] is turn
        return shown, turn

    return asyncio.run(run())


def fenced(body: str) -> str:
    return f"```obsigate-action\n{body}\n```"


def read(text: str, size: int = 7, *, whole: bool = True) -> tuple[str, list[ModelToolCall]]:
    reader = ActionReader()
    shown = "".join(reader.feed(text[at : at + size]) for at in range(0, len(text), size))
    rest, calls = reader.close(whole=whole)
    return shown + rest, list(calls)


def test_it_searches_for_the_question_before_the_model_is_asked() -> None:
    inner = ScriptedModel(ModelTurn(text="never"))

    shown, turn = answer(ModelWithoutTools(inner), request(RULES, QUESTION))

    assert (shown, inner.requests) == ("", [])
    [call] = turn.tool_calls
    assert (call.name, json.loads(call.arguments)) == (
        "search_documents",
        {"q": "Where is the key?"},
    )


def test_it_does_not_search_for_what_we_tell_its_model_ourselves() -> None:
    inner = ScriptedModel(ModelTurn(text="So."))
    told = ModelMessage(role="user", text=EMPTY_ANSWER)

    shown, _ = answer(ModelWithoutTools(inner), request(RULES, QUESTION, *found("x"), told))

    assert shown == "So."


def test_what_was_found_is_in_the_question_and_roles_alternate() -> None:
    inner = ScriptedModel(ModelTurn(text="Under the mat."))
    asked = request(RULES, QUESTION, *found("blue mat"))

    shown, turn = answer(ModelWithoutTools(inner), asked)

    assert (shown, turn.tool_calls, turn.finish_reason) == ("Under the mat.", (), "stop")
    [sent] = inner.requests
    assert [message.role for message in sent.messages] == ["system", "user"]
    assert "blue mat" in sent.messages[1].text
    assert "obsigate-action" in sent.messages[0].text
    assert not sent.tools


def test_a_block_is_a_call_and_is_not_shown() -> None:
    text = f"I write it.\n\n{fenced(json.dumps(NOTE))}\n\nThere."
    inner = ScriptedModel(ModelTurn(text=text))

    shown, turn = answer(ModelWithoutTools(inner), request(RULES, QUESTION, *found("x")))

    assert shown == turn.text == "I write it.\n\n\n\nThere."
    [call] = turn.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("create_file", ARGUMENTS)
    assert turn.finish_reason == "tool_calls"


@pytest.mark.parametrize("reason", ["length", "filtered", "malformed"])
def test_no_block_of_a_turn_that_was_cut_runs(reason: str) -> None:
    text = f"I write it.\n{fenced(json.dumps(NOTE))}\nAnd th"
    inner = ScriptedModel(ModelTurn(text=text, finish_reason=reason))

    shown, turn = answer(ModelWithoutTools(inner), request(RULES, QUESTION, *found("x")))

    assert (shown, turn.tool_calls) == ("I write it.\n\nAnd th", ())
    assert turn.finish_reason == reason


def test_what_came_of_a_block_is_told_in_the_next_question() -> None:
    inner = ScriptedModel(ModelTurn(text="Done."))
    call = ModelToolCall(id="c2", name="create_file", arguments='{"vault": "v", "path": "a.md"}')
    acted = [
        ModelMessage(role="assistant", text="I write it.", tool_calls=(call,)),
        ModelMessage(role="tool", tool_call_id="c2", text=wrap_data("create_file", {"ok": True})),
    ]

    answer(ModelWithoutTools(inner), request(RULES, QUESTION, *found("x"), *acted))

    told = inner.requests[0].messages
    assert [message.role for message in told] == ["system", "user", "assistant", "user"]
    assert fenced('{"action": "create_file", "vault": "v", "path": "a.md"}') in told[2].text


def test_when_only_an_answer_is_wanted_there_is_no_search_and_no_protocol() -> None:
    inner = ScriptedModel(ModelTurn(text="So."))

    answer(ModelWithoutTools(inner), request(RULES, QUESTION, answer_only=True))

    assert "obsigate" not in inner.requests[0].messages[0].text


@given(st.integers(1, 40))
def test_blocks_are_read_however_the_text_comes(size: int) -> None:
    second = {"action": "create_directory", "vault": "v", "path": "d"}
    text = f"a ``` b\n{fenced(json.dumps(NOTE))}\nmiddle\n{fenced(json.dumps(second))}\nend `"

    shown, calls = read(text, size)

    assert shown == "a ``` b\n\nmiddle\n\nend `"
    assert [call.name for call in calls] == ["create_file", "create_directory"]
    assert json.loads(calls[0].arguments) == ARGUMENTS


@given(st.integers(1, 40))
def test_line_ends_and_fences_within_strings_are_taken_as_they_are(size: int) -> None:
    body = '{"action": "create_file", "content": "one\n```py\n{}\n```\ntwo"}'

    shown, [call] = read(fenced(body) + "\nend", size)

    assert (shown, json.loads(call.arguments)) == ("\nend", {"content": "one\n```py\n{}\n```\ntwo"})


@pytest.mark.parametrize("body", ["{not json}", "[1]", "nothing"])
def test_a_block_that_cannot_be_read_is_a_call_that_the_loop_refuses(body: str) -> None:
    _, [call] = read(fenced(body))

    assert call.arguments.startswith(body)


def test_a_block_that_was_cut_off_never_runs() -> None:
    shown, calls = read('Well.\n```obsigate-action\n{"action": "create_fi', whole=False)

    assert (shown, calls) == ("Well.\n", [])


@given(st.text(alphabet='`obsigate-action \n{}"x', max_size=80), st.integers(1, 5))
def test_no_text_is_lost_outside_of_blocks(text: str, size: int) -> None:
    shown, _ = read(text, size, whole=False)

    assert shown == text or "obsigate" in text


@pytest.mark.parametrize(
    "opening",
    ["``` obsigate-action", "```Obsigate-Action", "```json obsigate-action", "```obsigate_action"],
)
@pytest.mark.parametrize("size", [1, 7])
def test_the_fence_of_a_block_is_known_however_it_is_written(opening: str, size: int) -> None:
    shown, [call] = read(f"So:\n{opening}\n{json.dumps(NOTE)}\n```\nend", size)

    assert shown == "So:\n\nend"
    assert json.loads(call.arguments) == ARGUMENTS


def test_a_block_written_is_the_block_read() -> None:
    call = ModelToolCall(id="x", name="create_file", arguments='{"vault": "v", "path": "é.md"}')

    _, [again] = read(block(call))

    assert (again.name, json.loads(again.arguments)) == (call.name, json.loads(call.arguments))


class Provider:
    """A `ChatProvider` that may refuse tools."""

    def __init__(self, complaint: str) -> None:
        self.complaint = complaint
        self.requests: list[ModelRequest] = []

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        if request.tools and self.complaint.startswith("HTTP 5"):
            raise UnavailableError("provider_unavailable", provider="p", reason=self.complaint)
        if request.tools and self.complaint:
            raise InvalidRequestError("provider_refused", provider="p", reason=self.complaint)
        yield TextDelta(text="Hello.")
        yield ModelTurn(text="Hello.")

    def convert_mcp_tool(self, tool: Mapping[str, Any]) -> JsonObject:
        return dict(tool)

    def extract_tool_calls(self, answer: JsonObject) -> tuple[ModelToolCall, ...]:
        raise NotImplementedError

    def estimate_cost(self, input_tokens: int, output_tokens: int, model: str) -> Decimal:
        return Decimal(input_tokens + output_tokens) if model else Decimal(0)


@pytest.mark.parametrize(
    "complaint",
    [
        "HTTP 400, registry.ollama.ai/library/gemma:2b does not support tools",
        "HTTP 404, No endpoints found that support tool use. Try disabling it",
        'HTTP 400, "auto" tool choice requires --enable-auto-tool-choice and a parser',
        "HTTP 400, This model does not support function calling",
        "HTTP 422, tools is not supported by this model",
        "HTTP 400, This model doesn't support tool use in streaming mode",
        "HTTP 400, Provider returned error: tool calling is not supported with this model",
        "HTTP 500, Unsupported param: tools",
        "HTTP 500, tools param requires --jinja flag",
    ],
)
def test_a_model_without_tools_is_asked_without_them_and_remembered(complaint: str) -> None:
    provider, known = Provider(complaint), set[str]()
    asked = request(RULES, QUESTION, *found("x"))

    for _ in range(2):
        assert answer(ToolFallback(provider, known), asked)[1].text == "Hello."

    assert [bool(each.tools) for each in provider.requests] == [True, False, False]


def test_a_model_that_only_minds_being_told_to_call_none_keeps_its_tools() -> None:
    complaint, known = "HTTP 400, tool_choice 'none' is not supported", set[str]()

    answered = answer(
        ToolFallback(Provider(complaint), known), request(RULES, QUESTION, answer_only=True)
    )

    assert (answered[1].text, known) == ("Hello.", set())


@pytest.mark.parametrize(
    "complaint",
    [
        "HTTP 400, the tool schema is invalid",
        "HTTP 400, This model doesn't support more than 128 tools",
        "HTTP 400, Parallel tool calls are not supported",
        "HTTP 500, the tools are being restarted",
        "HTTP 500, unsupported operand type(s) for +: 'int' and 'str' in function generate",
        "HTTP 503, Tool use is temporarily unsupported",
        "HTTP 503, Unsupported param: tools",
        "HTTP 400, keyword 'pattern' is not supported in function parameters",
        "context too long",
    ],
)
def test_another_complaint_is_told(complaint: str) -> None:
    with pytest.raises(ArchivoltError, match=r"provider_(refused|unavailable)"):
        answer(ToolFallback(Provider(complaint), set()), request(RULES, QUESTION))


def test_what_is_said_of_tools_after_the_first_word_has_nothing_said_twice() -> None:
    class Late(Provider):
        async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            yield TextDelta(text="Hello.")
            async for event in super().create_message(request):
                yield event

    late = Late("HTTP 400, tools are not supported")

    with pytest.raises(InvalidRequestError):
        answer(ToolFallback(late, set()), request(RULES, QUESTION))
    assert len(late.requests) == 1
