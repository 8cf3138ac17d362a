"""The loop of a model with tools, as one pure function (decision 21).

`step` decides what comes next; whoever drives it (a chat turn in process, a durable run) does that
and reports back by `answered` and `ran`. Every brake of decision 22 is here, so that all drivers
stop alike. A brake first takes the tools away, so that the model can still answer with what it has.
"""

from collections import Counter
from dataclasses import dataclass, replace

from archivolt.agent.calls import ToolCall, UnusableCall, read_call
from archivolt.agent.state import (
    LoopLimits,
    LoopState,
    StopReason,
    WaitingCall,
    corrected,
    prompted,
    refused,
    was_prompted,
)
from archivolt.agent.window import earlier_turns, without_old_results, without_results
from archivolt.domain.limits import MAX_ROUND_CALLS
from archivolt.ports.chat_model import ModelMessage, ModelTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel:
    """Ask the model; with `answer_only` it may call no tool."""

    answer_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools:
    """Run these calls and report every outcome, in this order; a change is proposed and waits."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPerson:
    """Nothing goes on before a person has decided on these calls."""

    calls: tuple[WaitingCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The loop is over; the last turn's text is the answer."""

    reason: StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarise:
    """Have the model sum these earlier messages up, and report by `summed_up`."""

    messages: tuple[ModelMessage, ...]


Action = CallModel | RunTools | AskPerson | Summarise | Finish

_FINISHED_BADLY = {
    "length": StopReason.ANSWER_CUT,
    "filtered": StopReason.ANSWER_FILTERED,
}


def step(state: LoopState, limits: LoopLimits, *, elapsed: float) -> tuple[LoopState, Action]:
    """Return the next state and what to do in it; `elapsed` is in seconds since the start."""
    if state.waiting:
        return state, AskPerson(calls=state.waiting)
    if elapsed >= limits.seconds:
        return state, Finish(reason=StopReason.TOO_LONG)
    if state.turn is None:
        return _ask(state, limits)
    return _after(state, state.turn, limits)


def _ask(state: LoopState, limits: LoopLimits) -> tuple[LoopState, Action]:
    brake = state.brake
    if brake is None and state.fruitless >= limits.fruitless_rounds:
        brake = StopReason.NO_PROGRESS
    if brake is None and state.unusable >= limits.unusable_calls:
        brake = StopReason.UNUSABLE_CALLS
    if brake is None and state.steps >= limits.steps - 1:
        brake = StopReason.TOO_MANY_STEPS
    state = replace(state, brake=brake)
    return _within_window(state, limits, CallModel(answer_only=brake is not None))


def _within_window(
    state: LoopState, limits: LoopLimits, call: CallModel
) -> tuple[LoopState, CallModel | Summarise]:
    """Make room: old results go first, then earlier turns are summed up, then any results go."""
    fitted = without_old_results(state.messages, limits.context_tokens)
    if fitted is None:
        earlier = earlier_turns(state.messages)
        if earlier and not state.summarised:
            return state, Summarise(messages=earlier)
        fitted = without_results(state.messages, limits.context_tokens)
    return replace(state, messages=fitted), call


def _after(state: LoopState, turn: ModelTurn, limits: LoopLimits) -> tuple[LoopState, Action]:
    if turn.finish_reason in _FINISHED_BADLY:
        return state, Finish(reason=_FINISHED_BADLY[turn.finish_reason])
    malformed = turn.finish_reason == "malformed"
    if state.brake is not None and (malformed or turn.tool_calls or turn.text.strip()):
        return state, Finish(reason=state.brake)
    if malformed:
        return _ask(corrected(state), limits)
    if turn.tool_calls:
        return _call_tools(state, turn, limits)
    return _said(state, turn, limits)


def _said(state: LoopState, turn: ModelTurn, limits: LoopLimits) -> tuple[LoopState, Action]:
    if turn.text.strip():
        return state, Finish(reason=StopReason.ANSWERED)
    if state.brake is not None or was_prompted(state):
        return state, Finish(reason=StopReason.ANSWER_EMPTY)
    # Models do end without a word, after tools above all; asked once more they mostly answer.
    return _ask(prompted(state), limits)


def _call_tools(state: LoopState, turn: ModelTurn, limits: LoopLimits) -> tuple[LoopState, Action]:
    runnable: list[ToolCall] = []
    unusable: list[UnusableCall] = []
    for call in turn.tool_calls:
        read = read_call(call, state.tools)
        if isinstance(read, ToolCall):
            runnable.append(read)
        else:
            unusable.append(read)
    state = replace(state, unusable=state.unusable + len(unusable))
    runnable, stopped, brake = _braked(state, runnable, limits)
    state = replace(refused(state, [*unusable, *stopped]), brake=state.brake or brake)
    if runnable:
        return state, RunTools(calls=tuple(runnable))
    return _ask(replace(state, turn=None), limits)


def _braked(
    state: LoopState, calls: list[ToolCall], limits: LoopLimits
) -> tuple[list[ToolCall], list[UnusableCall], StopReason | None]:
    """Split off the calls that a brake stops."""
    times = Counter(state.times_called)
    allowed: list[ToolCall] = []
    stopped: list[UnusableCall] = []
    brake: StopReason | None = None
    for call in calls:
        times[call.signature] += 1
        if times[call.signature] > limits.repeated_calls:
            brake = StopReason.REPEATED_CALL
        elif state.executed + len(allowed) >= limits.tool_calls:
            brake = StopReason.TOO_MANY_CALLS
        elif len(allowed) < MAX_ROUND_CALLS:
            allowed.append(call)
            continue
        problem = _TOLD[brake] if brake else _TOLD_LATER
        stopped.append(UnusableCall(id=call.id, name=call.name, problem=problem))
    return allowed, stopped, brake


_TOLD_LATER = f"Not run: {MAX_ROUND_CALLS} calls are run at once. Make this one again."
_TOLD = {
    StopReason.REPEATED_CALL: "Not run: the same call was made before. Answer with what you have.",
    StopReason.TOO_MANY_CALLS: "Not run: no more calls are left. Answer with what you have.",
}
