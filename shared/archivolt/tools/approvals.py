"""A person's yes or no to a change that an agent proposed (issue 5).

The yes makes nothing: the agent's own apply does, once, with its token. Refuses to know which
changes need a yes; the pipeline does.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from archivolt.domain.errors import ConflictError, ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.limits import MAX_AWAITED_CHANGES
from archivolt.domain.tool import JsonObject
from archivolt.ports.confirmations import Proposal, ProposalState
from archivolt.tools.proposals import Proposals


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedChange:
    """A proposal as the person sees it who may agree to it; `preview` is a `ShownPreview`."""

    id: str
    program: str
    tool: str
    state: ProposalState
    approved: bool
    created_at: datetime
    expires_at: datetime
    preview: JsonObject


class ApprovalService:
    """Shows and answers a person's own proposals that need their yes."""

    def __init__(self, proposals: Callable[[], Proposals]) -> None:
        self._proposals = proposals

    def waiting(self, principal: Principal) -> list[AwaitedChange]:
        """Return the caller's proposals that wait for their yes, the newest first.

        Raises:
            ForbiddenError: `person_required`.

        """
        _require_person(principal)
        proposals = self._proposals()
        found = proposals.store.waiting(
            principal.tenant,
            principal.user,
            now=proposals.clock.now(),
            limit=MAX_AWAITED_CHANGES,
        )
        return [self._shown(each) for each in found]

    def show(self, principal: Principal, proposal_id: str) -> AwaitedChange:
        """Return a proposal of the caller.

        Raises:
            ForbiddenError: `person_required`: the token is not a person's own.
            NotFoundError: `confirmation_not_found`: there is none, or it is another's.

        """
        return self._shown(self._own(principal, proposal_id))

    def approve(self, principal: Principal, proposal_id: str) -> AwaitedChange:
        """Let the agent make the change; to agree twice is to agree.

        Raises:
            ConflictError: `confirmation_expired`, `confirmation_declined`, `confirmation_done`.
            ForbiddenError, NotFoundError: As for `show`.

        """
        proposal = self._own(principal, proposal_id)
        if self._proposals().clock.now() >= proposal.expires_at:
            raise ConflictError("confirmation_expired")
        if not self._proposals().store.approve(proposal.tenant, proposal.id):
            self._refuse(principal, proposal_id)
        return self._shown(replace(proposal, approved=True))

    def takes_an_answer(self, change: AwaitedChange) -> bool:
        """Tell whether a person may still agree to a change, or decline it."""
        in_time = self._proposals().clock.now() < change.expires_at
        return in_time and change.state is ProposalState.PENDING

    def decline(self, principal: Principal, proposal_id: str) -> AwaitedChange:
        """Make sure that the change is never made; to decline twice is to decline.

        Raises:
            ConflictError: `confirmation_done`: it is made, or about to be.
            ForbiddenError, NotFoundError: As for `show`.

        """
        proposal = self._own(principal, proposal_id)
        declined = self._proposals().store.decline(proposal.tenant, proposal.id)
        now = self._own(principal, proposal_id)
        if not declined and now.state is not ProposalState.DECLINED:
            raise ConflictError("confirmation_done")
        return self._shown(now)

    def _refuse(self, principal: Principal, proposal_id: str) -> None:
        state = self._own(principal, proposal_id).state
        if state is ProposalState.DECLINED:
            raise ConflictError("confirmation_declined")
        raise ConflictError("confirmation_done")

    def _own(self, principal: Principal, proposal_id: str) -> Proposal:
        _require_person(principal)
        proposal = self._proposals().store.get(principal.tenant, proposal_id)
        if proposal is None or proposal.user != principal.user or not proposal.sealed_preview:
            raise NotFoundError("confirmation_not_found")
        return proposal

    def _shown(self, proposal: Proposal) -> AwaitedChange:
        preview = self._proposals().opened(proposal, "preview", proposal.sealed_preview)
        return AwaitedChange(
            id=proposal.id,
            program=proposal.program,
            tool=proposal.tool,
            state=proposal.state,
            approved=proposal.approved,
            created_at=proposal.created_at,
            expires_at=proposal.expires_at,
            preview=json.loads(preview),
        )


def _require_person(principal: Principal) -> None:
    if principal.kind is not TokenKind.INTERACTIVE:
        raise ForbiddenError("person_required")
