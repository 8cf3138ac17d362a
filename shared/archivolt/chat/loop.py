"""Drives the agent loop within a turn and tells what happens as events.

The decisions are `archivolt.agent.step`'s; here are the model, the tools, the clock and the stream.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from archivolt.agent.calls import ToolCall
from archivolt.agent.state import LoopLimits, LoopState, StopReason, ToolOutcome, answered, ran
from archivolt.agent.step import CallModel, Finish, RunTools, step
from archivolt.chat.citations import SourceCollector
from archivolt.chat.providers import ChosenModel
from archivolt.chat.toolbox import Toolbox
from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.messages import Language
from archivolt.domain.stream import ContentDelta, Notice, StreamEvent, ToolUseStart
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelMessage, ModelRequest, ModelTurn, TextDelta
from archivolt.ports.clock import Clock

Emit = Callable[[StreamEvent], None]


@dataclass(slots=True)
class Progress:
    """What a turn has brought so far; it outlives a turn that is stopped half-way."""

    text: str = ""
    calls: list[ToolCallRecord] = field(default_factory=list[ToolCallRecord])
    input_tokens: int = 0
    output_tokens: int = 0
    sources: tuple[str, ...] | None = None
    collector: SourceCollector = field(default_factory=SourceCollector)
    notices: list[Notice] = field(default_factory=list[Notice])


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
        self._chosen = chosen
        self._toolbox = toolbox
        self._limits = limits
        self._language = language
        self._clock = clock
        self._emit = emit
        self._declarations = toolbox.declarations()

    async def run(self, messages: Sequence[ModelMessage], progress: Progress) -> StopReason:
        """Run until the loop finishes, filling `progress`, and return why it did.

        Raises:
            ArchivoltError: The model failed.

        """
        state = LoopState(messages=tuple(messages), tools=self._toolbox.names)
        deadline = asyncio.timeout(self._limits.seconds)
        try:
            async with deadline:
                return await self._steps(state, progress)
        except TimeoutError:
            if not deadline.expired():
                raise
            return StopReason.TOO_LONG

    async def _steps(self, state: LoopState, progress: Progress) -> StopReason:
        started = self._clock.now()
        while True:
            elapsed = (self._clock.now() - started).total_seconds()
            state, action = step(state, self._limits, elapsed=elapsed)
            match action:
                case Finish():
                    return action.reason
                case CallModel():
                    state = answered(state, await self._ask(state, action, progress))
                case RunTools():
                    state = ran(state, await self._run_tools(action.calls, progress))

    async def _ask(self, state: LoopState, action: CallModel, progress: Progress) -> ModelTurn:
        request = ModelRequest(
            messages=state.messages,
            model=self._chosen.name,
            max_tokens=self._chosen.max_tokens,
            tools=self._declarations,
            answer_only=action.answer_only and bool(self._declarations),
            language=self._language.value,
        )
        turn: ModelTurn | None = None
        separator = "\n\n" if progress.text.strip() else ""
        async with aclosing(self._chosen.model.create_message(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    self._say(separator + event.text, progress)
                    separator = ""
                else:
                    turn = event
        assert turn is not None, "a model ends with its turn"  # noqa: S101
        progress.input_tokens += turn.input_tokens
        progress.output_tokens += turn.output_tokens
        progress.sources = turn.sources
        return turn

    def _say(self, text: str, progress: Progress) -> None:
        if text:
            progress.text += text
            self._emit(ContentDelta(text=text))

    async def _run_tools(self, calls: Sequence[ToolCall], progress: Progress) -> list[ToolOutcome]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._run_tool(call)) for call in calls]
        outcomes: list[ToolOutcome] = []
        for task in tasks:
            outcome, record = task.result()
            outcomes.append(outcome)
            progress.calls.append(record)
            if outcome.succeeded:
                progress.collector.add(outcome.value)
                self._pass_on_notices(outcome.value, progress)
        return outcomes

    async def _run_tool(self, call: ToolCall) -> tuple[ToolOutcome, ToolCallRecord]:
        self._emit(ToolUseStart(tool_name=call.name, tool_id=call.id))
        outcome, record, told = await self._toolbox.run(call)
        self._emit(told)
        return outcome, record

    def _pass_on_notices(self, result: JsonObject, progress: Progress) -> None:
        """Tell the person, once, what a search says about itself."""
        for notice in cast("list[JsonObject]", result.get("notices", [])):
            told = Notice(code=str(notice["code"]), message=str(notice["message"]))
            if told not in progress.notices:
                progress.notices.append(told)
                self._emit(told)
