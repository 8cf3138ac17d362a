"""Where a loop stands: plain values only, so that a state can be kept and taken up elsewhere.

Transitions return a new state. What to do next is decided in `archivolt.agent.step`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from archivolt.agent.calls import ToolCall, UnusableCall
from archivolt.agent.window import with_summary
from archivolt.domain import limits
from archivolt.domain.promptings import EMPTY_ANSWER, UNREADABLE_CALL
from archivolt.domain.tool import JsonObject
from archivolt.domain.untrusted import wrap_data
from archivolt.ports.chat_model import ModelImage, ModelMessage, ModelToolCall, ModelTurn


class StopReason(StrEnum):
    """Why a loop ended or waits. From the third on, the code of the notice a person sees.

    `STOPPED`: the person wanted it ended.
    """

    ANSWERED = "answered"
    WAITING = "waiting_for_confirmation"
    ANSWER_CUT = "answer_cut"
    ANSWER_EMPTY = "answer_empty"
    ANSWER_FILTERED = "answer_filtered"
    TOO_LONG = "loop_too_long"
    TOO_MANY_STEPS = "loop_too_many_steps"
    TOO_MANY_CALLS = "loop_too_many_calls"
    REPEATED_CALL = "loop_repeated_call"
    NO_PROGRESS = "loop_no_progress"
    UNUSABLE_CALLS = "loop_unusable_calls"
    BUDGET = "budget"
    STOPPED = "turn_stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopLimits:
    """The brakes (decision 22). `seconds` is wall clock, measured by whoever drives the loop.

    `context_tokens` is the room for messages in the model's window.
    """

    steps: int = limits.MAX_LOOP_STEPS
    tool_calls: int = limits.MAX_TOOL_CALLS
    repeated_calls: int = limits.MAX_REPEATED_CALLS
    unusable_calls: int = limits.MAX_UNUSABLE_CALLS
    fruitless_rounds: int = limits.MAX_FRUITLESS_ROUNDS
    seconds: float = limits.MAX_TURN_SECONDS
    context_tokens: int = limits.DEFAULT_CONTEXT_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What one call gave: the tool's result, or its error when not `succeeded`.

    `private`: it may tell something of the tenant's documents. `broken_code`: it was a change that
    would have left code with errors.
    """

    call: ToolCall
    succeeded: bool
    value: JsonObject
    private: bool = True
    broken_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCall:
    """A call that is proposed and waits for a person's word; `token` confirms it.

    `question` is what the server of a tool asks them, `resume` what it takes to go on then.
    """

    call: ToolCall
    token: str
    expires_at: datetime
    preview: JsonObject
    question: JsonObject | None = None
    resume: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopState:
    """A conversation with a model in progress.

    `turn` is the model's last word while it waits for a decision, `waiting` are the calls of it
    that wait for a person's. `brake` is set once the tools are taken away: the model may then only
    answer. `private`: the model has seen what may be of the tenant's documents, so that whatever it
    tells strangers from now on may carry that out. `summarised`: earlier turns are summed up
    already, however that came out. `corrections`: how often code went back to the model.
    """

    messages: tuple[ModelMessage, ...]
    tools: frozenset[str]
    turn: ModelTurn | None = None
    waiting: tuple[WaitingCall, ...] = ()
    steps: int = 0
    executed: int = 0
    unusable: int = 0
    fruitless: int = 0
    brake: StopReason | None = None
    times_called: Mapping[str, int] = field(default_factory=dict[str, int])
    seen_results: frozenset[str] = frozenset()
    private: bool = False
    summarised: bool = False
    corrections: int = 0


def answered(state: LoopState, turn: ModelTurn) -> LoopState:
    """Return the state after the model spoke; its call ids become unique within the loop."""
    taken = {call.id for message in state.messages for call in message.tool_calls}
    calls: list[ModelToolCall] = []
    for call in turn.tool_calls:
        unique = call if call.id and call.id not in taken else replace(call, id=_fresh_id(taken))
        taken.add(unique.id)
        calls.append(unique)
    message = ModelMessage(
        role="assistant",
        text=turn.text,
        tool_calls=tuple(calls),
        reasoning=turn.reasoning,
        echo=turn.echo,
    )
    return replace(
        state,
        turn=replace(turn, tool_calls=tuple(calls)),
        messages=(*state.messages, message),
        steps=state.steps + 1,
    )


def _fresh_id(taken: set[str]) -> str:
    """Return an id of nine letters and digits: the one form that every provider accepts."""
    number = len(taken)
    while f"c{number:08d}" in taken:
        number += 1
    return f"c{number:08d}"


def refused(state: LoopState, calls: Sequence[UnusableCall]) -> LoopState:
    """Return the state after the model was told that these calls did not run."""
    told = tuple(_tool_message(call.id, call.name, {"error": call.problem}) for call in calls)
    return replace(state, messages=(*state.messages, *told))


def corrected(state: LoopState) -> LoopState:
    """Return the state after the model was told that nobody could read its call."""
    told = ModelMessage(role="user", text=UNREADABLE_CALL)
    return replace(state, turn=None, messages=(*state.messages, told), unusable=state.unusable + 1)


def prompted(state: LoopState) -> LoopState:
    """Return the state after an empty turn was taken back and the model asked for an answer."""
    told = ModelMessage(role="user", text=EMPTY_ANSWER)
    messages = (*state.messages[:-1], told)
    return replace(state, turn=None, messages=messages, unusable=state.unusable + 1)


def was_prompted(state: LoopState) -> bool:
    """Tell whether the model's last turn came after it was asked for an answer."""
    return any(message.text == EMPTY_ANSWER for message in state.messages[-2:-1])


def ran(state: LoopState, results: Sequence[ToolOutcome | WaitingCall]) -> LoopState:
    """Return the state after tools ran, or calls that waited were decided on.

    The model sees the results as data.
    """
    outcomes = [result for result in results if isinstance(result, ToolOutcome)]
    state = replace(state, turn=None, waiting=_waiting(state, results))
    return _told(state, outcomes) if outcomes else state


def summed_up(state: LoopState, summary: str) -> LoopState:
    """Return the state with a summary in the place of the earlier turns; "": they are dropped."""
    return replace(state, messages=with_summary(state.messages, summary), summarised=True)


def spoken_to(state: LoopState, text: str, images: tuple[ModelImage, ...] = ()) -> LoopState:
    """Return the state after the person said something more; the brakes start anew."""
    message = ModelMessage(role="user", text=text, images=images)
    return LoopState(messages=(*state.messages, message), tools=state.tools, private=state.private)


def _waiting(
    state: LoopState, results: Sequence[ToolOutcome | WaitingCall]
) -> tuple[WaitingCall, ...]:
    decided = {result.call.id for result in results}
    new = [result for result in results if isinstance(result, WaitingCall)]
    return (*(each for each in state.waiting if each.call.id not in decided), *new)


def _told(state: LoopState, outcomes: Sequence[ToolOutcome]) -> LoopState:
    told = tuple(_tool_message(o.call.id, o.call.name, o.value) for o in outcomes)
    new = {_digest(outcome) for outcome in outcomes if outcome.succeeded}
    times = dict(state.times_called)
    for outcome in outcomes:
        times[outcome.call.signature] = times.get(outcome.call.signature, 0) + 1
    return replace(
        state,
        messages=(*state.messages, *told),
        executed=state.executed + len(outcomes),
        fruitless=0 if new - state.seen_results else state.fruitless + 1,
        times_called=times,
        seen_results=state.seen_results | new,
        private=state.private or any(outcome.private for outcome in outcomes),
        corrections=state.corrections + any(outcome.broken_code for outcome in outcomes),
    )


def _tool_message(call_id: str, name: str, value: JsonObject) -> ModelMessage:
    return ModelMessage(role="tool", tool_call_id=call_id, text=wrap_data(name, value))


def _digest(outcome: ToolOutcome) -> str:
    text = wrap_data(outcome.call.name, outcome.value)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
