"""The changes of a run that nobody looks on: made by a permission given beforehand, or refused.

They are proposed as any other. One that a permission covers is kept as agreed to and then made
under its confirmation, so that a worker that dies in between makes it once; one that none covers
is declined, and the model is told so. Where a person's yes is asked for, none stands for it.
A change that was permitted and not begun is proposed and looked at anew when it is tried again.
"""

from dataclasses import dataclass, replace
from typing import Final, cast

from archivolt.agent.state import ToolOutcome, WaitingCall
from archivolt.chat.toolbox import CallReport
from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.errors import ConflictError, ForbiddenError, NotFoundError, UnavailableError
from archivolt.domain.run import ApprovalState, Run, RunApproval, RunEvent
from archivolt.domain.schedule import StandingPermission
from archivolt.domain.stream import ToolUseResult
from archivolt.domain.tool import JsonObject, Surface
from archivolt.ports.confirmations import ProposalState
from archivolt.runs.covering import ProposedChange, covering
from archivolt.runs.ending import recorded
from archivolt.runs.support import Await, OpenRun, RunSupport, require_vaults

PERMITTED_BY: Final = "permission:"
"""Before the id of a permission, where a person would be named who agreed to a change."""
_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Unattended:
    """Settles the changes of scheduled runs."""

    on: RunSupport
    run_async: Await

    def settled(
        self, found: OpenRun, place: str, waiting: WaitingCall, approval: RunApproval
    ) -> CallReport | None:
        """Make a proposed change that is permitted, or refuse it; None: the run is over.

        `approval` is the change as it would wait for a person.

        Raises:
            ForbiddenError: `run_vault_lost`.
            UnavailableError, RateLimitedError: Whether it is made is not certain: try again.

        """
        run = found.run
        require_vaults(self.on, run)
        before = self._kept(run, place)
        if before is not None:
            new_id = f"{place}.{int(before.id.rpartition('.')[2]) + 1}"
            sealed = self.on.seals.waiting(run, new_id, waiting)
            approval = replace(approval, id=new_id, sealed=sealed)
        try:
            permission = self._permission(run, waiting, approval, before)
        except ForbiddenError as error:
            self.on.proposals().store.decline(run.tenant, approval.proposal)
            self._recorded(run, approval, "refused", error.code)
            return _refusal(found, waiting, error)
        self._recorded(run, approval, "permitted", "ok", permission=permission.id)
        agreed = replace(
            approval,
            state=ApprovalState.APPROVED,
            decided_by=f"{PERMITTED_BY}{permission.id}",
            decided_at=self.on.clock.now(),
        )
        instead_of, told = before.id if before else "", [self._word(agreed)]
        if not self.on.store.put_approval(run, agreed, instead_of=instead_of, events=told):
            self.on.proposals().store.decline(run.tenant, approval.proposal)
            there = self._kept(run, place)  # another worker was faster
            return None if there is None else self._made(found, self._opened(run, there))
        return self._made(found, waiting)

    def resumed(self, found: OpenRun, place: str) -> CallReport | None:
        """Finish the change of this place that was permitted and begun before; None: none was.

        One that was not begun is never made: it is to be proposed anew, for a permission may have
        been taken back since, and what it touches may have changed.

        Raises:
            ForbiddenError: `run_vault_lost`.
            UnavailableError, RateLimitedError: As `settled`.

        """
        run = found.run
        there = self._kept(run, place)
        if there is None or self._is_withdrawn(run, there):
            return None
        require_vaults(self.on, run)
        return self._made(found, self._opened(run, there))

    def _is_withdrawn(self, run: Run, approval: RunApproval) -> bool:
        """Take back a change that nobody began; tell whether it is taken back, now or before."""
        store = self.on.proposals().store
        if store.decline(run.tenant, approval.proposal):
            return True
        kept = store.get(run.tenant, approval.proposal)
        return kept is not None and kept.state is ProposalState.DECLINED

    def _kept(self, run: Run, place: str) -> RunApproval | None:
        """Return the change that was permitted in a place; None: none was, or the run is over."""
        kept = self.on.store.approvals(run)
        return next((each for each in kept if each.call == place and each.sealed), None)

    def _opened(self, run: Run, approval: RunApproval) -> WaitingCall:
        return self.on.seals.opened_waiting(run, approval.id, approval.sealed)

    def _made(self, found: OpenRun, waiting: WaitingCall) -> CallReport:
        report = self.run_async(found.toolbox.confirm(waiting))
        told: JsonObject = cast("ToolOutcome", report.result).value.get("error") or {}
        if told.get("code") == "confirmation_declined":
            # A worker beside this one took it back, to propose it anew.
            raise UnavailableError("unavailable")
        return report

    def _permission(
        self, run: Run, waiting: WaitingCall, approval: RunApproval, before: RunApproval | None
    ) -> StandingPermission:
        """Return the permission that covers a change, as used once more.

        The use that `before` was good for, which was not made, is given back.

        Raises:
            ForbiddenError: None does: `no_standing_permission` and its like;
                `human_confirmation_required`.

        """
        call = waiting.call
        opened = self.on.proposals().open(run.principal, call.name, waiting.token, Surface.IN_APP)
        if opened.proposal.sealed_preview:
            # Kept where a person's own yes is asked for; given beforehand it is none (decision 57).
            raise ForbiddenError("human_confirmation_required", approval_url="")
        change = ProposedChange(
            tool=call.name,
            vault=approval.vault,
            arguments=opened.call.arguments,
            pins=opened.call.pins,
            preview=waiting.preview,
        )
        unused = before.decided_by.removeprefix(PERMITTED_BY) if before else ""
        for _ in range(_ROUNDS):
            try:
                return self._used(run, change, unused)
            except ConflictError:
                continue  # it was used, or changed, beside this
        raise UnavailableError("unavailable")

    def _used(self, run: Run, change: ProposedChange, unused: str) -> StandingPermission:
        """Count a use before the change: should a worker die now, one is lost, and none won."""
        try:
            schedule = self.on.schedules.get(run.tenant, run.owner, run.schedule)
        except NotFoundError as error:
            raise ForbiddenError("no_standing_permission") from error
        given = [
            replace(each, uses=each.uses - 1) if each.id == unused else each
            for each in schedule.permissions
        ]
        permission = covering(given, change, self.on.clock.now())
        used = replace(permission, uses=permission.uses + 1)
        kept = tuple(used if each.id == used.id else each for each in given)
        self.on.schedules.save(replace(schedule, permissions=kept))
        return used

    def _word(self, approval: RunApproval) -> RunEvent:
        data: JsonObject = {
            "approval_id": approval.id,
            "tool_name": approval.tool,
            "decision": "permitted",
            "by": approval.decided_by,
        }
        return RunEvent(name="approval_decided", data=data, at=self.on.clock.now())

    def _recorded(
        self, run: Run, approval: RunApproval, what: str, outcome: str, **more: str
    ) -> None:
        details = {"confirmation": approval.proposal, "schedule": run.schedule, **more}
        recorded(self.on, run, f"run:{what}", outcome, **details)


def _refusal(found: OpenRun, waiting: WaitingCall, error: ForbiddenError) -> CallReport:
    call = waiting.call
    message = error.message(found.run.answers_in)
    told: JsonObject = {"code": error.code, "message": message, "details": {}}
    outcome = ToolOutcome(
        call=call,
        succeeded=False,
        value={"error": told},
        private=found.toolbox.is_private(call.name),
    )
    record = ToolCallRecord(
        tool_id=call.id, tool_name=call.name, arguments=call.arguments, status="error", size=0
    )
    shown = ToolUseResult(tool_id=call.id, status="error", summary=f"{call.name} — {message}")
    return CallReport(result=outcome, record=record, told=shown)
