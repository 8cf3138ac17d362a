"""A person's word on a change that a run proposed: yes, no, or yes to something else.

Whoever could make the change themselves may decide on it, and each change is decided on once. The
run makes it, as the person who started it.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from archivolt.agent.calls import ToolCall
from archivolt.agent.state import WaitingCall
from archivolt.domain.errors import ConflictError, ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.run import ApprovalState, Run, RunApproval, RunEvent, RunId
from archivolt.domain.run_limits import RUN_PROPOSAL_SECONDS
from archivolt.domain.tool import JsonObject, Risk, Surface
from archivolt.domain.vault import VaultAccess
from archivolt.runs.calling import approval_of, asks
from archivolt.runs.ending import recorded
from archivolt.runs.resuming import resumed
from archivolt.runs.support import RunSupport
from archivolt.tools.permission import require_right, vault_named


class Decision(StrEnum):
    """What a person says of a change."""

    APPROVE = "approve"
    DECLINE = "decline"
    EDIT = "edit"
    """Other arguments are proposed in the place of those that wait."""


_STATES = {
    Decision.APPROVE: ApprovalState.APPROVED,
    Decision.DECLINE: ApprovalState.DECLINED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    run: Run
    approval: RunApproval


class RunDecisions:
    """Takes people's decisions."""

    def __init__(self, on: RunSupport) -> None:
        self._on = on

    def show(self, principal: Principal, run_id: str, approval_id: str) -> tuple[Run, RunApproval]:
        """Return a change to a person who may decide on it.

        Raises:
            NotFoundError: `run_not_found`, `approval_not_found`.
            ForbiddenError: `person_required`, `vault_read_only`, `destructive_tools_off`.

        """
        found = self._found(principal, run_id, approval_id)
        if not found.approval.sealed:
            raise NotFoundError("approval_not_found")  # it went with its run
        return found.run, found.approval

    def decide(
        self, principal: Principal, run_id: str, approval_id: str, decision: Decision
    ) -> RunApproval:
        """Agree to a change or decline it; the same word twice is said once. Returned by name.

        Raises:
            NotFoundError: `run_not_found`, `approval_not_found`.
            ForbiddenError: `person_required`, `vault_read_only`, `destructive_tools_off`.
            ConflictError: `approval_decided`, `run_over`.
            UnavailableError: Say it again.

        """
        found = self._open(principal, run_id, approval_id, _STATES[decision])
        run, approval, state = found.run, found.approval, _STATES[decision]
        if approval.state is ApprovalState.PENDING:
            # First, so that nothing is made of a word that nobody could look up.
            self._audited(principal, found, state.value, "ok")
            if state is ApprovalState.APPROVED:
                self._on.proposals().store.approve(run.tenant, approval.proposal)
            approval = self._decided(principal, found, state)
        self._go_on(run, approval)
        return replace(approval, decided_by=principal.user)

    def edit(
        self, principal: Principal, run_id: str, approval_id: str, arguments: JsonObject
    ) -> tuple[Run, RunApproval]:
        """Propose other arguments in the place of a change that waits; that waits then.

        Raises:
            NotFoundError: `run_not_found`, `approval_not_found`.
            ForbiddenError: As `decide`.
            ConflictError: `approval_decided`, `run_over`.
            NotFoundError: `vault_not_found`: it is not among the editor's own.
            ArchivoltError: Whatever keeps the call from being proposed.

        """
        found = self._open(principal, run_id, approval_id, None)
        run, approval = found.run, found.approval
        if run.owner != principal.user:
            self._require_reach(principal, found, arguments)
        before = self._on.seals.opened_waiting(run, approval.id, approval.sealed)
        waiting = self._proposed(run, replace(before.call, arguments=arguments))
        number = int(approval.id.rpartition(".")[2]) + 1
        new_id = f"{approval.call}.{number}"
        edited = approval_of(self._on, run, new_id, approval.call, waiting)
        self._audited(principal, found, "edited", "ok")
        told = [self._word(principal, found, "edited"), asks(edited, waiting, self._on)]
        if not self._on.store.put_approval(run, edited, instead_of=approval.id, events=told):
            self._on.proposals().store.decline(run.tenant, edited.proposal)
            self._audited(principal, found, "edited", "approval_decided")
            raise ConflictError("approval_decided", state=ApprovalState.DECLINED.value)
        self._on.proposals().store.decline(run.tenant, approval.proposal)
        self._on.announcements.approval_required(run, edited)
        return run, edited

    def _proposed(self, run: Run, call: ToolCall) -> WaitingCall:
        proposed = self._on.pipeline.propose(
            run.principal,
            call.name,
            call.arguments,
            surface=Surface.IN_APP,
            language=run.answers_in,
            seconds=RUN_PROPOSAL_SECONDS,
            refuse_broken=False,
        )
        return WaitingCall(
            call=call,
            token=proposed.token,
            expires_at=proposed.expires_at,
            preview=proposed.preview,
        )

    def _open(
        self, principal: Principal, run_id: str, approval_id: str, wanted: ApprovalState | None
    ) -> _Found:
        """Return a change that may be decided on still, or was decided on so by this person."""
        if principal.reach.read_only:
            raise ForbiddenError("token_read_only")
        found = self._found(principal, run_id, approval_id)
        approval = found.approval
        if approval.state is wanted and approval.decided_by == found.run.named(principal.user):
            return found
        if found.run.status.over:
            raise ConflictError("run_over", status=found.run.status.value)
        state = approval.state
        if state is ApprovalState.PENDING and self._on.clock.now() >= approval.expires_at:
            state = ApprovalState.EXPIRED
        if state is not ApprovalState.PENDING:
            raise ConflictError("approval_decided", state=state.value)
        return found

    def _found(self, principal: Principal, run_id: str, approval_id: str) -> _Found:
        if principal.kind is not TokenKind.INTERACTIVE:
            raise ForbiddenError("person_required")
        run = self._on.store.get(principal.tenant, RunId(run_id))
        approvals = {each.id: each for each in self._on.store.approvals(run)}
        approval = approvals.get(approval_id)
        if run.owner != principal.user:
            access = approval and self._access(principal, approval.vault)
            if approval is None or access is None:
                raise NotFoundError("run_not_found")
            self._require_right(access, approval)
        if approval is None:
            raise NotFoundError("approval_not_found")
        return _Found(run=run, approval=approval)

    def _require_reach(self, principal: Principal, found: _Found, arguments: JsonObject) -> None:
        """Let somebody else propose no more than they could do: it is made with another's reach."""
        name = vault_named(arguments)
        meant = self._on.vaults.access(found.run.principal, name)
        access = self._access(principal, meant.vault.ref.id)
        if access is None:
            raise NotFoundError("vault_not_found", vault=name)
        self._require_right(access, found.approval)

    def _access(self, principal: Principal, vault: str) -> VaultAccess | None:
        reached = self._on.vaults.accessible(principal) if vault else []
        return next((each for each in reached if each.vault.ref.id == vault), None)

    def _require_right(self, access: VaultAccess, approval: RunApproval) -> None:
        """Let somebody else decide on what they could do themselves."""
        risks = {spec.name: spec.risk for spec in self._on.tools.specs(Surface.IN_APP)}
        require_right(access, risks.get(approval.tool, Risk.DANGEROUS))

    def _decided(self, principal: Principal, found: _Found, state: ApprovalState) -> RunApproval:
        run, approval = found.run, found.approval
        now = self._on.clock.now()
        told = [self._word(principal, found, state.value)]
        decided = self._on.store.decide(
            run, approval, state, by=run.named(principal.user), at=now, events=told
        )
        if decided is not None:
            return decided
        there = {each.id: each for each in self._on.store.approvals(run)}.get(approval.id)
        if there and (there.state, there.decided_by) == (state, run.named(principal.user)):
            return there
        self._audited(principal, found, state.value, "approval_decided")
        if there is None:
            raise NotFoundError("approval_not_found")
        raise ConflictError("approval_decided", state=there.state.value)

    def _word(self, principal: Principal, found: _Found, decision: str) -> RunEvent:
        """Return the event that tells the run's watchers who said what."""
        data: JsonObject = {
            "approval_id": found.approval.id,
            "tool_name": found.approval.tool,
            "decision": decision,
            "by": found.run.named(principal.user),
        }
        return RunEvent(name="approval_decided", data=data, at=self._on.clock.now())

    def _audited(self, principal: Principal, found: _Found, decision: str, outcome: str) -> None:
        decider = replace(found.run, principal=principal)
        proposal = found.approval.proposal
        recorded(self._on, decider, f"run:{decision}", outcome, confirmation=proposal)

    def _go_on(self, run: Run, approval: RunApproval) -> None:
        """Let the execution that waits go on; where none does, have another take the run up."""
        if not (approval.task_token and self._on.engine.go_on(approval.task_token)):
            resumed(self._on, run)
