"""Whatever a model does and however small its window is, no provider refuses the history."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.adapters.chat_models import provider_format
from archivolt.adapters.text_actions.requests import without_tools
from archivolt.agent.keeping import state_from_json, state_to_json
from archivolt.agent.state import (
    LoopLimits,
    LoopState,
    ToolOutcome,
    WaitingCall,
    answered,
    ran,
    spoken_to,
    summed_up,
)
from archivolt.agent.step import AskPerson, CallModel, Finish, RunTools, Summarise, step
from archivolt.domain.providers import WireFormat
from archivolt.domain.tool import Declaration
from archivolt.ports.chat_model import ModelMessage, ModelRequest, ModelToolCall, ModelTurn

NAMES = ("search_documents", "read", "create_file")
TOOLS = [
    Declaration({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}})
    for name in NAMES
]
EXPIRES = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=1)
Message = Mapping[str, Any]


def signed(turn: ModelTurn) -> ModelTurn:
    """Return a turn as Anthropic's models have it that think first; theirs are never malformed."""
    if turn.finish_reason == "malformed":
        return turn
    items: list[dict[str, Any]] = [{"type": "thinking", "thinking": "", "signature": "s"}]
    items += [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    items += [{"call": place} for place in range(len(turn.tool_calls))]
    return replace(turn, echo=json.dumps({"format": "anthropic", "items": items}))


CALLS = st.builds(
    ModelToolCall,
    id=st.sampled_from(["", "a", "b"]),
    name=st.sampled_from([*NAMES, "unknown"]),
    arguments=st.sampled_from(['{"q": 1}', "", "{broken", json.dumps({"content": "x" * 3_000})]),
)
TURNS = st.builds(
    ModelTurn,
    text=st.sampled_from(["", " ", "I look.", "word " * 500]),
    tool_calls=st.lists(CALLS, max_size=3).map(tuple),
    finish_reason=st.sampled_from(["tool_calls", "stop", "malformed"]),
)


def outcomes_of(action: RunTools, size: int) -> list[ToolOutcome | WaitingCall]:
    return [
        WaitingCall(call=call, token="t", expires_at=EXPIRES, preview={})
        if call.name == "create_file"
        else ToolOutcome(call=call, succeeded=True, value={"found": f"{call.id} " * size})
        for call in action.calls
    ]


def asked_for(turns: Sequence[ModelTurn], size: int, room: int) -> list[list[ModelMessage]]:
    """Return the messages of each question to the model, of a loop that goes on as it can."""
    limits, asked, script = LoopLimits(context_tokens=room), list[list[ModelMessage]](), [*turns]
    earlier = [
        ModelMessage(role="user", text="Before " * 200),
        ModelMessage(role="assistant", text="So it was."),
    ]
    rules = ModelMessage(role="system", text="The rules.")
    question = ModelMessage(role="user", text="Now?")
    state = LoopState(messages=(rules, *earlier, question), tools=frozenset(NAMES))
    while True:
        state, action = step(state, limits, elapsed=0)
        match action:
            case CallModel():
                asked.append(list(state.messages))
                if not script:
                    return asked
                state = answered(state, script.pop(0))
            case Summarise():
                state = summed_up(state, "They spoke.")
            case RunTools():
                state = ran(state, outcomes_of(action, size))
            case AskPerson():
                kept = state_from_json(state_to_json(state))
                decided = [
                    ToolOutcome(call=each.call, succeeded=False, value={"status": "declined"})
                    for each in kept.waiting
                ]
                state = spoken_to(ran(kept, decided), "Another way.")
            case Finish():
                return asked


def request(messages: Sequence[ModelMessage]) -> ModelRequest:
    return ModelRequest(messages=messages, model="m", max_tokens=9, tools=TOOLS)


def body_of(kind: WireFormat, messages: Sequence[ModelMessage]) -> dict[str, Any]:
    return provider_format(kind).body(request(messages))


def is_alternating(roles: Sequence[str]) -> bool:
    return roles[0] == "user" and roles[-1] == "user" and all(a != b for a, b in pairwise(roles))


def openai_is_valid(messages: Sequence[Message]) -> bool:
    rules, *told = messages
    waiting: list[str] = []
    before = ""
    for message in told:
        role, calls = message["role"], message.get("tool_calls", [])
        if role == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
        else:
            assert not waiting
            assert (role, before) != ("user", "user")
            assert role == "user" or calls or message["content"].strip()
        for call in calls:
            json.loads(call["function"]["arguments"])
            waiting.append(call["id"])
        before = role
    return rules["role"] == "system" and not waiting and before in {"user", "tool"}


def anthropic_is_valid(messages: Sequence[Message]) -> bool:
    for message, following in pairwise([*messages, {"content": []}]):
        assert message["content"]
        called = [each["id"] for each in message["content"] if each["type"] == "tool_use"]
        told = [
            each["tool_use_id"] for each in following["content"] if each["type"] == "tool_result"
        ]
        assert called == told
        assert message["role"] == "user" or message["content"][-1]["type"] != "thinking"
    return is_alternating([message["role"] for message in messages])


def gemini_is_valid(contents: Sequence[Message]) -> bool:
    for content, following in pairwise([*contents, {"parts": []}]):
        called = [each["functionCall"] for each in content["parts"] if "functionCall" in each]
        told = [
            each["functionResponse"] for each in following["parts"] if "functionResponse" in each
        ]
        assert [each["name"] for each in called] == [each["name"] for each in told]
    return is_alternating([str(content["role"]) for content in contents])


@settings(deadline=None, max_examples=25)
@given(
    st.lists(TURNS | TURNS.map(signed), min_size=1, max_size=7),
    st.sampled_from([1, 40, 900]),
    st.sampled_from([300, 900, 4_000, 100_000]),
)
def test_every_question_to_a_model_is_valid_for_every_provider(
    turns: list[ModelTurn], size: int, room: int
) -> None:
    for messages in asked_for(turns, size, room):
        assert openai_is_valid(body_of(WireFormat.OPENAI, messages)["messages"])
        assert anthropic_is_valid(body_of(WireFormat.ANTHROPIC, messages)["messages"])
        assert gemini_is_valid(body_of(WireFormat.GEMINI, messages)["contents"])
        told = without_tools(request(messages)).messages
        assert is_alternating([message.role for message in told[1:]])
