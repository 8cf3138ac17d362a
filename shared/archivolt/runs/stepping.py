"""One step of a run: what the chat does in process, done so that it can be done again.

A step asks the model at most once and keeps where the loop stands before it says what comes next.
Asked again, it says that again: a worker that dies, or an engine that forgets, costs no more than
one answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from archivolt.agent.state import StopReason, WaitingCall, ran
from archivolt.chat.touched import moved_uris
from archivolt.domain.errors import (
    ArchivoltError,
    BudgetExceededError,
    ConflictError,
    RateLimitedError,
    UnavailableError,
)
from archivolt.domain.run import Run, RunPhase, RunRef, call_place
from archivolt.domain.run_limits import RUN_APPROVAL_GRACE_SECONDS
from archivolt.domain.tool import JsonObject
from archivolt.runs.advancing import Advance
from archivolt.runs.ending import ended, so_far_of
from archivolt.runs.keeping import KeptOutcome, SoFar
from archivolt.runs.support import Await, OpenRun, RunSupport, live_run, open_run, require_vaults

# About how many events an execution records for a step, and for a retry of it.
_STEP_EVENTS: Final = 12
_RETRY_EVENTS: Final = 5
# Worth another try: the engine tries again by the names of these.
_TRIED_AGAIN: Final = (UnavailableError, RateLimitedError, ConflictError)
Answers = Mapping[str, str | None]
"""What the calls that a run waits for came to, sealed, by their places; None: nothing yet."""
DECIDED: Final = ".decided"
"""What follows the place of a call where the outcome of a person's decision is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """What the engine does next: `step`, `tools`, `approval` or `over`, and with which calls."""

    what: str
    calls: tuple[JsonObject, ...] = ()


_OVER: Final = Next(what="over")


class RunSteps:
    """Takes the steps of runs.

    Args:
        on: The collaborators.
        run_async: Runs what is asynchronous.
        max_history: About how many events an execution may record before another goes on.

    """

    def __init__(self, on: RunSupport, run_async: Await, *, max_history: int) -> None:
        self._on = on
        self._async = run_async
        self._max_history = max_history

    def step(self, ref: RunRef) -> Next:
        """Take one step and return what comes next.

        Raises:
            UnavailableError, RateLimitedError, ConflictError: Worth another try.

        """
        loaded = live_run(self._on, ref)
        if loaded is None:
            return _OVER
        so_far: SoFar | None = None
        try:
            require_vaults(self._on, loaded)
            found = open_run(self._on, loaded)
            so_far = found.kept.so_far
            answers = self._answers(loaded, so_far)
            waits = self._unanswered(loaded, answers)
            return waits or self._stepped(found, ref, answers)
        except _TRIED_AGAIN:
            raise
        except ArchivoltError as error:
            loaded = replace(loaded, reason_details=dict(error.details))
            so_far = so_far or so_far_of(self._on, loaded)
            ended(self._on, loaded, _code_of(error, so_far), so_far)
            return _OVER

    def _stepped(self, found: OpenRun, ref: RunRef, answers: Answers) -> Next:
        loaded = found.run
        history = loaded.history + _STEP_EVENTS + ref.retries * _RETRY_EVENTS
        started = loaded.started_at or self._on.clock.now()
        run = replace(loaded, history=history, started_at=started)
        state, so_far = found.kept.state, found.kept.so_far
        if run.phase is not RunPhase.MODEL:
            outcomes = [self._outcome(run, place, sealed) for place, sealed in answers.items()]
            state = ran(state, [each.result for each in outcomes])
            so_far = _with(found, outcomes)
            run = self._worked_on(run, state.executed)
        advance = Advance(
            on=self._on,
            run_async=self._async,
            found=found,
            loaded=loaded,
            run=run,
            state=state,
            so_far=so_far,
        )
        return self._next(advance.go(), advance.so_far)

    def _next(self, run: Run, so_far: SoFar) -> Next:
        """Return what comes after a state that was just kept, in this execution or a fresh one."""
        if run.status.over:
            return _OVER
        if run.history >= self._max_history:
            renewed = replace(run, execution=run.execution + 1, history=0)
            self._on.engine.start(self._on.store.save(renewed))
            return _OVER
        # What the model has asked for just now, nobody has answered yet.
        answers = dict.fromkeys(self._places(run, so_far))
        return self._unanswered(run, answers) or Next(what="step")

    def _answers(self, run: Run, so_far: SoFar) -> Answers:
        places = self._places(run, so_far)
        return {place: self._on.store.outcome(run, place) for place in places}

    def _places(self, run: Run, so_far: SoFar) -> list[str]:
        """Return the places of the calls that the run needs answers to."""
        if run.phase is RunPhase.MODEL:
            return []
        places = [call_place(so_far.round, n) for n in range(len(so_far.pending))]
        if run.phase is RunPhase.APPROVAL:
            waiting = {approval.call for approval in self._on.store.approvals(run)}
            places = [place + DECIDED for place in places if place in waiting]
        return places

    def _unanswered(self, run: Run, answers: Answers) -> Next | None:
        """Return what is to be done with calls that are not answered; None if all are."""
        missing = [place for place, sealed in answers.items() if sealed is None]
        if not missing:
            return None
        if run.phase is RunPhase.TOOLS:
            return Next(what="tools", calls=tuple({"call": place} for place in missing))
        return Next(what="approval", calls=self._undecided(run, missing))

    def _undecided(self, run: Run, missing: Sequence[str]) -> tuple[JsonObject, ...]:
        now = self._on.clock.now()
        waiting: list[JsonObject] = []
        for approval in self._on.store.approvals(run):
            if approval.call + DECIDED in missing:
                left = (approval.expires_at - now).total_seconds() + RUN_APPROVAL_GRACE_SECONDS
                waiting.append({"call": approval.call, "seconds": max(1, int(left))})
        return tuple(waiting)

    def _outcome(self, run: Run, place: str, sealed: str | None) -> KeptOutcome:
        if sealed is None:
            raise ConflictError("conflict")
        return self._on.seals.opened_outcome(run, place, sealed)

    def _worked_on(self, run: Run, executed: int) -> Run:
        """Return a run whose calls are answered; what people took to decide was no work."""
        waited = run.use.waited_seconds
        if run.waiting_since:
            waited += (self._on.clock.now() - run.waiting_since).total_seconds()
        use = replace(run.use, tool_calls=executed, waited_seconds=waited)
        return replace(run, phase=RunPhase.MODEL, waiting_since=None, use=use)


def _code_of(error: ArchivoltError, so_far: SoFar | None) -> str:
    """Return why a run is over; as in the chat, a budget stops what has begun to answer."""
    begun = so_far is not None and bool(so_far.text.strip())
    if begun and isinstance(error, BudgetExceededError):
        return StopReason.BUDGET
    return error.code


def _with(found: OpenRun, outcomes: list[KeptOutcome]) -> SoFar:
    """Return what the run has once these calls are answered, as the chat notes it."""
    collector = found.sources
    for each in outcomes:
        if each.outcome is not None and each.outcome.succeeded:
            collector.add(each.outcome.value)
            for before, after in moved_uris(each.record):
                collector.moved(before, after)
    so_far = found.kept.so_far
    made = (each.record for each in outcomes if not isinstance(each.result, WaitingCall))
    return replace(
        so_far,
        calls=(*so_far.calls, *made),
        passages=collector.passages,
        refused=next((each.refused for each in outcomes if each.refused), ""),
    )
