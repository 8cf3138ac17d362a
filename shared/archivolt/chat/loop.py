"""Drives the agent loop within a turn and tells what happens as events.

The decisions are `archivolt.agent.step`'s; here are the model, the tools, the clock and the stream.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
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
from archivolt.chat.progress import LoopStart, Progress
from archivolt.chat.providers import ChosenModel
from archivolt.chat.stopping import Stop
from archivolt.chat.toolbox import CallReport, Toolbox
from archivolt.chat.touched import moved_uris
from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.errors import ArchivoltError, BudgetExceededError
from archivolt.domain.limits import MAX_CODE_CORRECTIONS
from archivolt.domain.messages import Language
from archivolt.domain.stream import ContentDelta, Notice, StreamEvent, ToolUseStart
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelTurn
from archivolt.ports.clock import Clock

Emit = Callable[[StreamEvent], None]


class TurnLoop:
    """One run of the loop.

    Args:
        chosen: The model.
        toolbox: Its tools.
        limits: The brakes.
        language: The answer's.
        clock: For the wall clock.
        emit: Takes each event as it happens.
        stop: Ends it at a person's word.

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
        stop: Stop,
    ) -> None:
        self._toolbox = toolbox
        self._clock = clock
        self._emit = emit
        self._model = ModelCalls(chosen, toolbox, limits=limits, language=language)
        self.stop = stop

    @property
    def _limits(self) -> LoopLimits:
        return self._model.limits

    def admit(self, start: LoopStart) -> None:
        """Set aside what the first answer may cost; this blocks.

        Raises:
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.
            UnavailableError: `unavailable`.

        """
        said = spoken_to(start.state, start.says, start.images) if start.says else start.state
        self._model.admit(said.messages)

    async def run(self, start: LoopStart, progress: Progress) -> StopReason:
        """Run until the loop finishes, waits or is stopped, filling `progress`, and return why.

        Raises:
            ArchivoltError: The model failed, or a change may or may not be made.

        """
        progress.undecided = {each.call.id: each for each in start.state.waiting}
        deadline = asyncio.timeout(self._limits.seconds)
        try:
            async with deadline:
                with self.stop.ends(deadline):
                    return await self._steps(await self._begun(start, progress), progress)
        except BudgetExceededError as error:
            progress.exhausted = error
            return StopReason.BUDGET
        except TimeoutError:
            if not deadline.expired():
                raise
        # Where a change may be made, the wish cannot be kept: the turn took too long all the same.
        is_stopped = self.stop.asked and not self.stop.cut
        await self._decline_rest(start, progress, is_stopped=is_stopped)
        return StopReason.STOPPED if is_stopped else StopReason.TOO_LONG

    async def _begun(self, start: LoopStart, progress: Progress) -> LoopState:
        """Return the state to go on from, once what was decided is done, in the order of calls."""
        state = replace(start.state, tools=self._toolbox.names)
        decided: list[ToolOutcome | WaitingCall] = []
        for waiting in start.state.waiting:
            if waiting.call.id in start.decisions:
                answers = start.answers.get(waiting.call.id)
                agreed = start.decisions[waiting.call.id]
                toolbox = self._toolbox
                async with self.stop.put_off():
                    decide = (
                        toolbox.confirm(waiting, answers) if agreed else toolbox.decline(waiting)
                    )
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
        tasks: list[asyncio.Task[CallReport]] = []
        try:
            async with asyncio.TaskGroup() as group:
                tasks += (group.create_task(self._run_tool(call, run(call))) for call in calls)
        except asyncio.CancelledError:
            left = [self._left(call, task) for call, task in zip(calls, tasks, strict=True)]
            self._taken(left, progress)
            raise
        return self._taken([task.result() for task in tasks], progress)

    def _left(self, call: ToolCall, task: "asyncio.Task[CallReport]") -> CallReport:
        """Return what came of a call of a round that was broken off; it changes nothing unasked."""
        return self._told(self._toolbox.abandoned(call)) if task.cancelled() else task.result()

    async def _decline_rest(
        self, start: LoopStart, progress: Progress, *, is_stopped: bool
    ) -> None:
        """Make sure that what was proposed is never made: whoever stops an answer wants none of it.

        What waited before stays for a person who has not stopped anything.
        """
        for waiting in tuple(progress.undecided.values()):
            before = waiting in start.state.waiting
            if before and not is_stopped:
                continue
            if before:
                self._emit(ToolUseStart(tool_name=waiting.call.name, tool_id=waiting.call.id))
            with suppress(ArchivoltError):  # nobody has its token any more, and it expires
                self._taken([self._told(await self._toolbox.decline(waiting))], progress)

    async def _run_tool(self, call: ToolCall, run: Awaitable[CallReport]) -> CallReport:
        self._emit(ToolUseStart(tool_name=call.name, tool_id=call.id))
        return self._told(await run)

    def _told(self, report: CallReport) -> CallReport:
        if report.told is not None:
            self._emit(report.told)
        return report

    def _taken(
        self, reports: Sequence[CallReport], progress: Progress
    ) -> list[ToolOutcome | WaitingCall]:
        """Note what calls came to, and return it for the loop."""
        for report in reports:
            self._note(report.record, progress)
            if report.notice:
                self._notify(report.notice, progress)
            if isinstance(report.result, WaitingCall):
                progress.undecided[report.record.tool_id] = report.result
                continue
            progress.undecided.pop(report.record.tool_id, None)
            progress.private |= report.result.private
            if report.result.succeeded:
                progress.collector.add(report.result.value)
                for before, after in moved_uris(report.record):
                    progress.collector.moved(before, after)
                self._pass_on_notices(report.result.value, progress)
        return [report.result for report in reports]

    def _note(self, record: ToolCallRecord, progress: Progress) -> None:
        """Keep the record of a call, in the place of its proposal where this turn made that."""
        proposed = replace(record, status="proposed", size=0)
        progress.calls = [*(each for each in progress.calls if each != proposed), record]

    def _pass_on_notices(self, result: JsonObject, progress: Progress) -> None:
        """Tell the person, once, what a search says about itself."""
        for notice in cast("list[JsonObject]", result.get("notices", [])):
            told = Notice(code=str(notice["code"]), message=str(notice["message"]))
            self._notify(told, progress)

    def _notify(self, told: Notice, progress: Progress) -> None:
        if told not in progress.notices:
            progress.notices.append(told)
            self._emit(told)
