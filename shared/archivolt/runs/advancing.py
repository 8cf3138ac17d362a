"""From one state of a run to the next thing that somebody else does: a tool, or a person.

The model is asked at most once on the way. What to do is `archivolt.agent.step`'s to say.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from archivolt.agent.state import LoopState, StopReason, answered, summed_up
from archivolt.agent.step import AskPerson, CallModel, Finish, RunTools, Summarise, step
from archivolt.domain.errors import (
    ArchivoltError,
    BudgetExceededError,
    RateLimitedError,
    UnavailableError,
)
from archivolt.domain.limits import MAX_TURN_SECONDS
from archivolt.domain.run import Run, RunEvent, RunPhase, RunStatus
from archivolt.domain.run_limits import RUN_PROVIDER_DOWN_SECONDS
from archivolt.ports.chat_model import ModelTurn
from archivolt.runs.costs import cap_reached, with_turn
from archivolt.runs.ending import ended
from archivolt.runs.keeping import KeptLoop, SoFar
from archivolt.runs.support import Await, OpenRun, RunSupport

# About how many events an execution records for a call, and for a change that waits.
_CALL_EVENTS: Final = 9
_WAIT_EVENTS: Final = 30
_SOON: Final = 5
_DOWN: Final = timedelta(seconds=RUN_PROVIDER_DOWN_SECONDS)


@dataclass(slots=True)
class Advance:
    """A run on its way.

    `loaded` is the run as it is kept, `events` are to be kept with its next state.
    """

    on: RunSupport
    run_async: Await
    found: OpenRun
    loaded: Run
    run: Run
    state: LoopState
    so_far: SoFar
    asked: bool = False
    events: list[RunEvent] = field(default_factory=list[RunEvent])

    def go(self) -> Run:
        """Go on until the run is over, waits, or has asked its model; return it as it is kept.

        Raises:
            UnavailableError, RateLimitedError: The model does not answer: ask again later.
            ArchivoltError: It never will, or the state cannot be kept.

        """
        while True:
            elapsed = self.run.worked_seconds(self.on.clock.now())
            self.state, action = step(self.state, self.found.model.limits, elapsed=elapsed)
            match action:
                case Finish():
                    return self._finished(action.reason)
                case AskPerson():
                    return self._awaiting(len(action.calls))
                case RunTools():
                    return self._calling(action)
                case CallModel() | Summarise():
                    over = self._asking(action)
                    if over is not None:
                        return over

    def _asking(self, action: CallModel | Summarise) -> Run | None:
        """Ask the model; a run if that is not to be done now."""
        if self.asked:
            return self._keep(self.run)
        if cap_reached(self.found, self.run, self.state):
            return self._end("run_cost_cap")
        self.asked = True
        asked_at = self.on.clock.now()
        try:
            turn = self._summary(action) if isinstance(action, Summarise) else self._answer(action)
        except (UnavailableError, RateLimitedError, BudgetExceededError) as error:
            return self._unanswered(error)
        except TimeoutError:
            return self._cut_off()
        use = with_turn(self.run.use, self.found.chosen, turn)
        waited = use.waited_seconds
        if self.run.failing_since:
            waited += (asked_at - self.run.failing_since).total_seconds()
        use = replace(use, steps=self.state.steps, waited_seconds=waited)
        self.run = replace(self.run, use=use, failing_since=None)
        return None

    def _unanswered(self, error: ArchivoltError) -> Run:
        """Have the model asked again later; a run if nothing has come of that for too long."""
        if isinstance(error, BudgetExceededError):
            if not error.momentary or self._down_for_long():
                raise error
            raise RateLimitedError("rate_limited", retry_after=_SOON) from error
        if not self._down_for_long():
            raise error
        return self._end(_down(error))

    def _cut_off(self) -> Run:
        """End the run with what its model had said when its time was over."""
        used = self.found.chosen.model.used
        turn = ModelTurn(text="", input_tokens=used.input, output_tokens=used.output)
        run = replace(self.run, use=with_turn(self.run.use, self.found.chosen, turn))
        if self._seconds_left() > 0:
            run = replace(run, reason_details={"limit": MAX_TURN_SECONDS})
        self.run = run
        return self._end(StopReason.TOO_LONG)

    def _seconds_left(self) -> float:
        return self.found.model.limits.seconds - self.run.worked_seconds(self.on.clock.now())

    def _down_for_long(self) -> bool:
        """Tell whether nothing has come of asking for too long; note since when."""
        now = self.on.clock.now()
        if self.loaded.failing_since is None:
            self.on.store.save(replace(self.loaded, failing_since=now))
            return False
        return now - self.loaded.failing_since >= _DOWN

    def _summary(self, action: Summarise) -> ModelTurn:
        turn = self.run_async(self._in_time(self.found.model.summary(action)))
        self.state = summed_up(self.state, turn.text.strip())
        return turn

    def _answer(self, action: CallModel) -> ModelTurn:
        pieces = list[str]()
        answer = self.found.model.answer(self.state, action, pieces.append)
        try:
            turn = self.run_async(self._in_time(answer))
        except TimeoutError:
            self._said(pieces)
            raise
        self._said(pieces)
        self.state = answered(self.state, turn)
        self.so_far = replace(self.so_far, sources=turn.sources)
        if turn.text.strip():
            self._tell("message", text=turn.text)
        return turn

    def _said(self, pieces: Sequence[str]) -> None:
        if pieces:
            before = "\n\n" if self.so_far.text.strip() else ""
            text = self.so_far.text + before + "".join(pieces)
            self.so_far = replace(self.so_far, text=text)

    async def _in_time(self, asking: Coroutine[Any, Any, ModelTurn]) -> ModelTurn:
        async with asyncio.timeout(min(self._seconds_left(), MAX_TURN_SECONDS)):
            return await asking

    def _calling(self, action: RunTools) -> Run:
        self.so_far = replace(self.so_far, pending=action.calls, round=self.state.steps)
        for call in action.calls:
            self._tell("tool_use_start", tool_name=call.name, tool_id=call.id)
        history = self.run.history + _CALL_EVENTS * len(action.calls)
        return self._keep(replace(self.run, phase=RunPhase.TOOLS, history=history))

    def _awaiting(self, changes: int) -> Run:
        return self._keep(
            replace(
                self.run,
                status=RunStatus.AWAITING_APPROVAL,
                phase=RunPhase.APPROVAL,
                waiting_since=self.on.clock.now(),
                history=self.run.history + _WAIT_EVENTS * changes,
            )
        )

    def _finished(self, reason: StopReason) -> Run:
        code = reason.value
        if reason is StopReason.ANSWER_CUT:
            limit = {"limit": self.found.chosen.max_tokens}
            self.run = replace(self.run, reason_details=limit)
        if reason is StopReason.ANSWERED and self.so_far.refused:
            # The model had nothing to add to a no but words.
            code = self.so_far.refused
        return self._end(code)

    def _end(self, code: str) -> Run:
        return ended(self.on, self.run, code, self.so_far, events=self.events)

    def _keep(self, run: Run) -> Run:
        run = replace(run, updated_at=self.on.clock.now())
        if run.status in {RunStatus.QUEUED, RunStatus.AWAITING_APPROVAL}:
            waits = run.phase is RunPhase.APPROVAL
            run = replace(run, status=run.status if waits else RunStatus.RUNNING)
        sealed = self.on.seals.loop(run, KeptLoop(state=self.state, so_far=self.so_far))
        return self.on.store.save(run, sealed=sealed, events=self.events)

    def _tell(self, name: str, **data: str) -> None:
        self.events.append(RunEvent(name=name, data=dict(data), at=self.on.clock.now()))


def _down(error: ArchivoltError) -> str:
    """Return why a run is over that could not ask its model for long: it was down, or we were."""
    return "run_provider_down" if error.code.startswith("provider_") else "run_failed"
