"""The calls of a run: run once each, proposed where a person has to agree, made when one did.

What a call came to is kept under its place, and told again to whoever asks again. A change is made
under its confirmation, which runs it at most once and finishes what broke off (decision 83).
"""

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, cast

from archivolt.agent.calls import ToolCall
from archivolt.agent.state import ToolOutcome, WaitingCall
from archivolt.chat.toolbox import CallReport
from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.errors import ConflictError, RateLimitedError, UnavailableError
from archivolt.domain.limits import MAX_CODE_CORRECTIONS
from archivolt.domain.messages import MESSAGES
from archivolt.domain.run import ApprovalState, Run, RunApproval, RunEvent, RunRef, index_of
from archivolt.domain.run_limits import (
    RUN_APPROVAL_GRACE_SECONDS,
    RUN_APPROVAL_SECONDS,
    RUN_CALL_RETRIES,
    RUN_PROPOSAL_SECONDS,
)
from archivolt.domain.stream import StreamEvent, ToolUseResult
from archivolt.domain.tool import JsonObject, Surface
from archivolt.observability import logger
from archivolt.runs.ending import ended, so_far_of
from archivolt.runs.keeping import KeptOutcome
from archivolt.runs.stepping import DECIDED
from archivolt.runs.support import Await, OpenRun, RunSupport, live_run, open_run, require_vaults
from archivolt.runs.unattended import Unattended

_EXPIRED: Final = (
    "Nobody agreed to this change in time and it was not made."
    " Do not propose it again unless the person asks for it."
)
# No rule ends a run by these kinds: something was down, or in the way, for longer than was tried.
_OURS: Final = frozenset(
    kind.__name__ for kind in (UnavailableError, RateLimitedError, ConflictError)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Whether a change still waits for a person, and for how many seconds."""

    waits: bool
    seconds: int = 0


class RunCalls:
    """Runs the calls of runs.

    Args:
        on: The collaborators.
        run_async: Runs what is asynchronous.

    """

    def __init__(self, on: RunSupport, run_async: Await) -> None:
        self._on = on
        self._async = run_async
        self._unattended = Unattended(on=on, run_async=run_async)

    def run_tool(self, ref: RunRef, place: str) -> None:
        """Run one call, or propose it; a call whose outcome is known is not run again.

        Raises:
            UnavailableError: Worth another try.
            ArchivoltError: The model may not be asked any more.

        """
        run = live_run(self._on, ref)
        if run is None or self._on.store.outcome(run, place) is not None:
            return
        found = open_run(self._on, run)
        permitted = self._unattended.resumed(found, place) if run.schedule else None
        if permitted is not None:
            self._keep(run, place, permitted)
            return
        state, call = found.kept.state, found.kept.so_far.pending[index_of(place)]
        report = self._async(
            found.toolbox.run(
                call,
                private=state.private,
                # Where nobody sees what is wrong with code, it is never right enough.
                correctable=bool(run.schedule) or state.corrections < MAX_CODE_CORRECTIONS,
                patient=ref.retries < RUN_CALL_RETRIES,
            )
        )
        if isinstance(report.result, WaitingCall) and run.schedule:
            self._settle(found, place, report.result)
        elif isinstance(report.result, WaitingCall):
            self._propose(run, place, report.result, report.record)
        elif report.result.succeeded or not self._waits(run, place, report.record):
            self._keep(run, place, report)

    def await_person(self, ref: RunRef, place: str, task_token: str) -> None:
        """Note how an execution that waits for a person is told to go on.

        It goes on at once where there is nothing to wait for.

        Raises:
            UnavailableError: Worth another try.

        """
        run = live_run(self._on, ref)
        approval = self._approval(run, place) if run else None
        if run is None or approval is None:
            self._on.engine.go_on(task_token)
            return
        kept = self._on.store.keep_task_token(run, approval, task_token)
        if kept is None or kept.state is not ApprovalState.PENDING:
            self._on.engine.go_on(task_token)

    def decided(self, ref: RunRef, place: str) -> Wait:
        """Do what a person decided on, once; say whether the change waits still.

        Raises:
            UnavailableError, RateLimitedError: Whether it is done is not certain: try again.

        """
        run = live_run(self._on, ref)
        approval = self._approval(run, place) if run else None
        if run is None or approval is None:
            return Wait(waits=False)
        if self._on.store.outcome(run, place + DECIDED) is not None:
            return Wait(waits=False)
        if approval.state is ApprovalState.PENDING:
            approval = self._expired(run, approval)
        if approval.state is ApprovalState.PENDING:
            left = (approval.expires_at - self._on.clock.now()).total_seconds()
            return Wait(waits=True, seconds=int(left) + RUN_APPROVAL_GRACE_SECONDS)
        self._carry_out(run, place, approval)
        return Wait(waits=False)

    def broke_off(self, ref: RunRef, *, error: str, cause: str) -> None:
        """Keep that an execution could not go on: the code of an error of ours, or that it broke.

        Raises:
            UnavailableError, ConflictError: Worth another try.

        """
        run = live_run(self._on, ref)
        if run is None:
            return
        logger.error("run broke off", extra={"run": run.id, "error": error})
        code = "run_failed" if error in _OURS else _code_in(cause)
        ended(self._on, run, code, so_far_of(self._on, run))

    def _carry_out(self, run: Run, place: str, approval: RunApproval) -> None:
        require_vaults(self._on, run)
        found = open_run(self._on, run)
        waiting = self._on.seals.opened_waiting(run, approval.id, approval.sealed)
        asked_for = found.kept.so_far.pending[index_of(place)]
        match approval.state:
            case ApprovalState.APPROVED:
                report = self._async(found.toolbox.confirm(waiting))
                report, refused = _as_asked_for(report, asked_for), ""
            case ApprovalState.DECLINED:
                report = self._async(found.toolbox.decline(waiting))
                report, refused = _as_asked_for(report, asked_for), "run_declined"
            case _:
                report, refused = _expiry(found, asked_for), "approval_expired"
        self._keep(run, place + DECIDED, report, refused)

    def _expired(self, run: Run, approval: RunApproval) -> RunApproval:
        """Return the change as expired if it is, or as somebody decided meanwhile."""
        now = self._on.clock.now()
        if now < approval.expires_at:
            return approval
        data: JsonObject = {
            "approval_id": approval.id,
            "tool_name": approval.tool,
            "decision": ApprovalState.EXPIRED.value,
            "by": "",
        }
        told = [RunEvent(name="approval_decided", data=data, at=now)]
        expired = self._on.store.decide(
            run, approval, ApprovalState.EXPIRED, by="", at=now, events=told
        )
        return expired or self._approval(run, approval.call) or approval

    def _propose(self, run: Run, place: str, waiting: WaitingCall, record: ToolCallRecord) -> None:
        """Keep a change that waits, then that its call does: whoever asks again finds both."""
        approval = approval_of(self._on, run, f"{place}.1", place, waiting)
        told = [asks(approval, waiting, self._on)]
        if not self._on.store.put_approval(run, approval, events=told):
            self._on.proposals().store.decline(run.tenant, approval.proposal)
        self._waits(run, place, record)

    def _waits(self, run: Run, place: str, record: ToolCallRecord) -> bool:
        """Keep that a call waits for a person, if people were shown its change.

        A worker that broke off may have proposed it: whatever became of the call since, that one
        is what they decide on. Nobody is shown a change of a scheduled run.
        """
        there = self._approval(run, place)
        if there is None or not there.sealed or run.schedule:
            return False
        self._on.announcements.approval_required(run, there)
        waiting = self._on.seals.opened_waiting(run, there.id, there.sealed)
        kept = KeptOutcome(record=replace(record, status="proposed", size=0), waiting=waiting)
        self._on.store.keep_outcome(run, place, self._on.seals.outcome(run, place, kept))
        return True

    def _settle(self, found: OpenRun, place: str, waiting: WaitingCall) -> None:
        approval = approval_of(self._on, found.run, f"{place}.1", place, waiting)
        report = self._unattended.settled(found, place, waiting, approval)
        if report is not None:
            self._keep(found.run, place, report)

    def _keep(self, run: Run, place: str, report: CallReport, refused: str = "") -> None:
        outcome = cast("ToolOutcome", report.result)
        kept = KeptOutcome(record=report.record, outcome=outcome, refused=refused)
        sealed = self._on.seals.outcome(run, place, kept)
        told = self._events(report.told) if report.told else []
        self._on.store.keep_outcome(run, place, sealed, told)

    def _approval(self, run: Run, place: str) -> RunApproval | None:
        return next((each for each in self._on.store.approvals(run) if each.call == place), None)

    def _events(self, *events: StreamEvent) -> list[RunEvent]:
        now = self._on.clock.now()
        return [RunEvent(name=each.event, data=each.payload(), at=now) for each in events]


def approval_of(
    on: RunSupport, run: Run, approval_id: str, place: str, waiting: WaitingCall
) -> RunApproval:
    """Return a proposed call as a change that waits for a person.

    Raises:
        UnavailableError: It cannot be sealed now.

    """
    call = waiting.call
    opened = on.proposals().open(run.principal, call.name, waiting.token, Surface.IN_APP)
    outlives = timedelta(seconds=RUN_PROPOSAL_SECONDS - RUN_APPROVAL_SECONDS)
    return RunApproval(
        id=approval_id,
        call=place,
        tool=call.name,
        expires_at=waiting.expires_at - outlives,
        sealed=on.seals.waiting(run, approval_id, waiting),
        proposal=opened.proposal.id,
        vault=opened.call.vault,
    )


def asks(approval: RunApproval, waiting: WaitingCall, on: RunSupport) -> RunEvent:
    """Return the event that asks people to decide; the change is shown where they do."""
    data: JsonObject = {
        "approval_id": approval.id,
        "tool_id": waiting.call.id,
        "tool_name": approval.tool,
        "expires_at": approval.expires_at.isoformat(),
    }
    return RunEvent(name="approval_required", data=data, at=on.clock.now())


def _as_asked_for(report: CallReport, asked_for: ToolCall) -> CallReport:
    """Return a report under the call that the model made, with what a person changed of it."""
    outcome = cast("ToolOutcome", report.result)
    if outcome.call.arguments == asked_for.arguments:
        return report
    value: JsonObject = {
        "edited_by_the_person": outcome.call.arguments,
        "result": outcome.value,
    }
    return replace(report, result=replace(outcome, call=asked_for, value=value))


def _code_in(cause: str) -> str:
    """Return the code of our own error in what Lambda tells of a failure, else `run_failed`."""
    try:
        told: JsonObject = json.loads(cause)
        code = str(told["errorMessage"]).partition(":")[0]
    except (ValueError, KeyError, TypeError):
        return "run_failed"
    # A run that is told of is there: what is not found is what was kept of it.
    return code if code in MESSAGES and code != "run_not_found" else "run_failed"


def _expiry(found: OpenRun, call: ToolCall) -> CallReport:
    outcome = ToolOutcome(
        call=call,
        succeeded=False,
        value={"status": "expired", "message": _EXPIRED},
        private=found.toolbox.is_private(call.name),
    )
    record = ToolCallRecord(
        tool_id=call.id, tool_name=call.name, arguments=call.arguments, status="expired", size=0
    )
    told = ToolUseResult(tool_id=call.id, status="expired", summary=call.name)
    return CallReport(result=outcome, record=record, told=told)
