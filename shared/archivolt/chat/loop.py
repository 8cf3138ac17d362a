"""Drives the agent loop within a turn and tells what happens as events.

The decisions are `archivolt.agent.step`'s; here are the model, the tools, the clock and the stream.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from archivolt.agent.calls import ToolCall
from archivolt.agent.state import (
    LoopLimits,
    LoopState,
    StopReason,
    ToolOutcome,
    WaitingCall,
    answered,
    ran,
    spoken_to,
    summed_up,
)
from archivolt.agent.step import AskPerson, CallModel, Finish, RunTools, Summarise, step
from archivolt.chat.asking import ModelCalls
from archivolt.chat.citations import SourceCollector
from archivolt.chat.providers import ChosenModel
from archivolt.chat.toolbox import CallReport, Toolbox
from archivolt.chat.touched import moved_uris
from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.errors import BudgetExceededError
from archivolt.domain.limits import MAX_CODE_CORRECTIONS
from archivolt.domain.messages import Language
from archivolt.domain.stream import ContentDelta, Notice, StreamEvent, ToolUseStart
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelImage, ModelTurn
from archivolt.ports.clock import Clock

Emit = Callable[[StreamEvent], None]


@dataclass(slots=True)
class Progress:
    """What a turn has brought so far; it outlives a turn that is stopped half-way.

    `state` is where the loop stood when it came to wait for a person. `private`: a tool gave what
    may be of documents. `exhausted` is the budget that had no room for another answer.
    """

    text: str = ""
    calls: list[ToolCallRecord] = field(default_factory=list[ToolCallRecord])
    input_tokens: int = 0
    output_tokens: int = 0
    sources: tuple[str, ...] | None = None
    collector: SourceCollector = field(default_factory=SourceCollector)
    notices: list[Notice] = field(default_factory=list[Notice])
    state: LoopState | None = None
    exhausted: BudgetExceededError | None = None
    private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStart:
    """Where a loop begins, or goes on.

    `decisions` says of calls that wait, by id, whether the person agreed; `says` is what they said
    beside it, with what they show, once nothing waits any more. `answers` are theirs to what was
    asked, by the call and by the question.
    """

    state: LoopState
    decisions: Mapping[str, bool] = field(default_factory=dict[str, bool])
    says: str = ""
    images: tuple[ModelImage, ...] = ()
    answers: Mapping[str, Mapping[str, JsonObject]] = field(
        default_factory=dict[str, Mapping[str, JsonObject]]
    )


class TurnLoop:
    """One run of the loop.

    Args:
        chosen: The model.
        toolbox: Its tools.
        limits: The brakes.
        language: The answer's.
        clock: For the wall clock.
        emit: Takes each event as it happens.

    """

    def __init__(
        self,
        chosen: ChosenModel,
        toolbox: Toolbox,
        *,
        limits: LoopLimits,
        language: Language,
        clock: Clock,
        emit: Emit,
    ) -> None:
        self._toolbox = toolbox
        self._clock = clock
        self._emit = emit
        self._model = ModelCalls(chosen, toolbox, limits=limits, language=language)
        self._limits = self._model.limits

    def admit(self, start: LoopStart) -> None:
        """Set aside what the first answer may cost; this blocks.

        Raises:
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.
            UnavailableError: `unavailable`.

        """
        said = spoken_to(start.state, start.says, start.images) if start.says else start.state
        self._model.admit(said.messages)

    async def run(self, start: LoopStart, progress: Progress) -> StopReason:
        """Run until the loop finishes or waits, filling `progress`, and return why it did.

        Raises:
            ArchivoltError: The model failed, or a change may or may not be made.

        """
        deadline = asyncio.timeout(self._limits.seconds)
        try:
            async with deadline:
                return await self._steps(await self._begun(start, progress), progress)
        except BudgetExceededError as error:
            progress.exhausted = error
            return StopReason.BUDGET
        except TimeoutError:
            if not deadline.expired():
                raise
            return StopReason.TOO_LONG

    async def _begun(self, start: LoopStart, progress: Progress) -> LoopState:
        """Return the state to go on from, once what was decided is done, in the order of calls."""
        state = replace(start.state, tools=self._toolbox.names)
        decided: list[ToolOutcome | WaitingCall] = []
        for waiting in start.state.waiting:
            if waiting.call.id in start.decisions:
                answers = start.answers.get(waiting.call.id)
                agreed = start.decisions[waiting.call.id]
                toolbox = self._toolbox
                decide = toolbox.confirm(waiting, answers) if agreed else toolbox.decline(waiting)
                report = await self._run_tool(waiting.call, decide)
                decided += self._taken([report], progress)
        # As one round: several that are declined are one refusal, not a model that gets nowhere.
        state = ran(state, decided) if decided else state
        return spoken_to(state, start.says, start.images) if start.says else state

    async def _steps(self, state: LoopState, progress: Progress) -> StopReason:
        started = self._clock.now()
        while True:
            elapsed = (self._clock.now() - started).total_seconds()
            state, action = step(state, self._limits, elapsed=elapsed)
            match action:
                case Finish():
                    return action.reason
                case AskPerson():
                    progress.state = state
                    return StopReason.WAITING
                case Summarise():
                    state = summed_up(state, await self._summary(action, progress))
                case CallModel():
                    state = answered(state, await self._ask(state, action, progress))
                case RunTools():
                    results = await self._run_tools(action.calls, progress, state)
                    state = ran(replace(state, tools=self._toolbox.names), results)

    async def _ask(self, state: LoopState, action: CallModel, progress: Progress) -> ModelTurn:
        before = "\n\n" if progress.text.strip() else ""

        def say(text: str) -> None:
            nonlocal before
            self._say(before + text, progress)
            before = ""

        turn = await self._model.answer(state, action, say)
        progress.input_tokens += turn.input_tokens
        progress.output_tokens += turn.output_tokens
        progress.sources = turn.sources
        return turn

    async def _summary(self, action: Summarise, progress: Progress) -> str:
        """Return what the model makes of earlier turns; a model that says nothing loses them."""
        turn = await self._model.summary(action)
        progress.input_tokens += turn.input_tokens
        progress.output_tokens += turn.output_tokens
        return turn.text.strip()

    def _say(self, text: str, progress: Progress) -> None:
        if text:
            progress.text += text
            self._emit(ContentDelta(text=text))

    async def _run_tools(
        self, calls: Sequence[ToolCall], progress: Progress, state: LoopState
    ) -> list[ToolOutcome | WaitingCall]:
        run = partial(
            self._toolbox.run,
            private=state.private,
            correctable=state.corrections < MAX_CODE_CORRECTIONS,
        )
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._run_tool(call, run(call))) for call in calls]
        return self._taken([task.result() for task in tasks], progress)

    async def _run_tool(self, call: ToolCall, run: Awaitable[CallReport]) -> CallReport:
        self._emit(ToolUseStart(tool_name=call.name, tool_id=call.id))
        report = await run
        if report.told is not None:
            self._emit(report.told)
        return report

    def _taken(
        self, reports: Sequence[CallReport], progress: Progress
    ) -> list[ToolOutcome | WaitingCall]:
        """Note what calls came to, and return it for the loop."""
        for report in reports:
            progress.calls.append(report.record)
            if report.notice:
                self._notify(report.notice, progress)
            if not isinstance(report.result, ToolOutcome):
                continue
            progress.private |= report.result.private
            if report.result.succeeded:
                progress.collector.add(report.result.value)
                for before, after in moved_uris(report.record):
                    progress.collector.moved(before, after)
                self._pass_on_notices(report.result.value, progress)
        return [report.result for report in reports]

    def _pass_on_notices(self, result: JsonObject, progress: Progress) -> None:
        """Tell the person, once, what a search says about itself."""
        for notice in cast("list[JsonObject]", result.get("notices", [])):
            told = Notice(code=str(notice["code"]), message=str(notice["message"]))
            self._notify(told, progress)

    def _notify(self, told: Notice, progress: Progress) -> None:
        if told not in progress.notices:
            progress.notices.append(told)
            self._emit(told)
