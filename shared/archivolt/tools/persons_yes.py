"""A person's yes to what an agent changes, where one is asked for.

Refuses to know how it is given: a door had it just now, or it is kept with the proposal.
"""

from datetime import datetime

from archivolt.domain.errors import ConflictError, ForbiddenError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.tool import Surface
from archivolt.governance.human_confirmation import HumanConfirmation, YesRule
from archivolt.ports.confirmations import Proposal, ProposalState


class PersonsYes:
    """Holds changes to the rule of whoever they are made for; without one, none is asked for."""

    def __init__(self, human: HumanConfirmation | None) -> None:
        self._human = human

    def rule(self, principal: Principal, surface: Surface) -> YesRule:
        """Return what counts as a yes to a change through this door; a person's own hand is one."""
        by_agent = surface is Surface.MCP or principal.kind is not TokenKind.INTERACTIVE
        return self._human.rule(principal) if self._human and by_agent else YesRule.NONE

    @property
    def has_pages(self) -> bool:
        """Whether a browser can be sent to where a person says yes."""
        return self._human is not None and self._human.pages

    def address(self, proposal: Proposal) -> str:
        """Return where a person sees a proposal that needs their yes; "" for any other."""
        return self._human.address(proposal.id) if self._human and proposal.sealed_preview else ""

    def require(
        self,
        principal: Principal,
        surface: Surface,
        proposal: Proposal,
        *,
        asked: bool,
        now: datetime,
    ) -> None:
        """Let a proposal be applied; `asked`: the door has just had a person's yes to it.

        Raises:
            ForbiddenError: `human_confirmation_required`, with the `approval_url`.
            ConflictError: `confirmation_expired`: no yes could come any more.

        """
        # What is done or declined is told again to whoever asks.
        decided = proposal.state in {ProposalState.DONE, ProposalState.DECLINED}
        if decided or proposal.approved:
            return
        rule = self.rule(principal, surface)
        if rule is YesRule.NONE or (rule is YesRule.FORM and asked):
            return
        if now >= proposal.expires_at:
            raise ConflictError("confirmation_expired")
        # One proposed before the rule was in force has nothing to show at its address.
        raise ForbiddenError("human_confirmation_required", approval_url=self.address(proposal))
