"""From one state of a run to the next thing that somebody else does: a tool, or a person.

The model is asked at most once on the way. What to do is `archivolt.agent.step`'s to say.
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from archivolt.agent.state import LoopState, StopReason, answered, summed_up
from archivolt.agent.step import AskPerson, CallModel, Finish, RunTools, Summarise, step
from archivolt.domain.errors import RateLimitedError, UnavailableError
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
        try:
            turn = self._summary(action) if isinstance(action, Summarise) else self._answer(action)
        except (UnavailableError, RateLimitedError):
            if self._down_for_long():
                return self._end("run_provider_down")
            raise
        use = with_turn(self.run.use, self.found.chosen, turn)
        use = replace(use, steps=self.state.steps)
        self.run = replace(self.run, use=use, failing_since=None)
        return None

    def _down_for_long(self) -> bool:
        """Tell whether the provider has not answered for too long; note since when it has not."""
        now = self.on.clock.now()
        if self.loaded.failing_since is None:
            self.on.store.save(replace(self.loaded, failing_since=now))
            return False
        return now - self.loaded.failing_since >= _DOWN

    def _summary(self, action: Summarise) -> ModelTurn:
        turn = self.run_async(self.found.model.summary(action))
        self.state = summed_up(self.state, turn.text.strip())
        return turn

    def _answer(self, action: CallModel) -> ModelTurn:
        text, pieces = self.so_far.text, list[str]()
        turn = self.run_async(self.found.model.answer(self.state, action, pieces.append))
        if pieces:
            before = "\n\n" if text.strip() else ""
            text = text + before + "".join(pieces)
        self.state = answered(self.state, turn)
        self.so_far = replace(self.so_far, text=text, sources=turn.sources)
        if turn.text.strip():
            self._tell("message", text=turn.text)
        return turn

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
