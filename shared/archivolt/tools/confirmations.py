"""A confirmed change: run at most once, whoever retries it, and told the same to all (decision 12).

The proposal is taken by a conditional write before the change, and what the change came to is kept
under it. Refuses to know what any tool does.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from archivolt.domain import limits
from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import ArchivoltError, ConflictError, UnavailableError
from archivolt.domain.tool import ToolResult
from archivolt.ports.confirmations import Proposal, ProposalState
from archivolt.tools.outcomes import outcome_of_error, outcome_of_result, told_again
from archivolt.tools.proposals import OpenedProposal, Proposals

Run = Callable[[Confirmed], ToolResult]

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0


class Confirmations:
    """Carries proposals out, or declines them.

    Args:
        proposals: Where they are.
        wait: Waits so many seconds.

    """

    def __init__(self, proposals: Proposals, *, wait: Callable[[float], object]) -> None:
        self.proposals = proposals
        self._store = proposals.store
        self._clock = proposals.clock
        self._wait = wait

    def apply(self, opened: OpenedProposal, run: Run) -> ToolResult:
        """Run the change unless it ran, and return what it came to, now or then.

        While another apply runs it, this one waits for that one's outcome. A change that an ended
        apply left without an outcome is run again as `resumed`.

        Raises:
            ConflictError: `confirmation_declined`, `confirmation_expired`.
            UnavailableError: `confirmation_running`: it takes longer than a caller can wait.
            ArchivoltError: What the change came to.

        """
        waited, pause = 0.0, _FIRST_PAUSE
        while waited < limits.CONFIRMATION_WAIT_SECONDS:
            proposal = self.proposals.kept(opened.proposal.tenant, opened.proposal.id)
            if proposal.state is ProposalState.DONE:
                return told_again(self.proposals.opened(proposal, "outcome", proposal.outcome))
            if proposal.state is ProposalState.DECLINED:
                raise ConflictError("confirmation_declined")
            taken = self._taken(proposal)
            if taken is None:
                self._wait(pause)
                waited, pause = waited + pause, min(pause * 2, _LONGEST_PAUSE)
            elif (result := self._carried_out(taken, opened, run)) is not None:
                return result
        raise _running()

    def decline(self, opened: OpenedProposal) -> None:
        """Never run this change; to decline twice is to decline.

        Raises:
            ConflictError: `confirmation_done`: it ran.
            UnavailableError: `confirmation_running`: it was begun.

        """
        if self._store.decline(opened.proposal.tenant, opened.proposal.id):
            return
        state = self.proposals.kept(opened.proposal.tenant, opened.proposal.id).state
        if state is ProposalState.DONE:
            raise ConflictError("confirmation_done")
        if state is not ProposalState.DECLINED:
            raise _running()

    def _taken(self, proposal: Proposal) -> Proposal | None:
        """Take a proposal for one run; None while another one runs it."""
        now = self._clock.now()
        if proposal.lease_until is not None and now < proposal.lease_until:
            return None
        end = proposal.expires_at
        if proposal.attempts:
            end += timedelta(seconds=limits.CONFIRMATION_RESUME_SECONDS)
        if now >= end:
            raise ConflictError("confirmation_expired")
        lease_until = now + timedelta(seconds=limits.CONFIRMATION_LEASE_SECONDS)
        return self._store.take(proposal, now=now, lease_until=lease_until)

    def _carried_out(self, taken: Proposal, opened: OpenedProposal, run: Run) -> ToolResult | None:
        """Run a change under its lease; None if the lease was lost to another run."""
        confirmed = Confirmed(operation=taken.id, pins=opened.call.pins, resumed=taken.attempts > 1)
        try:
            result = run(confirmed)
        except UnavailableError:
            # What is done already bears the mark of this confirmation: a retry goes on from there.
            self._release(taken)
            raise
        except ArchivoltError as error:
            if self._finished(taken, outcome_of_error(error)):
                raise
            return None
        except Exception:
            self._release(taken)
            raise
        return result if self._finished(taken, outcome_of_result(result)) else None

    def _finished(self, taken: Proposal, outcome: str) -> bool:
        sealed = self.proposals.sealed(taken, "outcome", outcome)
        return self._store.finish(taken, outcome=sealed)

    def _release(self, taken: Proposal) -> None:
        # If it cannot be given back, the lease ends by itself.
        with suppress(UnavailableError):
            self._store.release(taken)


def _running() -> UnavailableError:
    return UnavailableError("confirmation_running", retry_after=limits.CONFIRMATION_LEASE_SECONDS)
