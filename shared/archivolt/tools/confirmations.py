"""A confirmed change: run at most once, whoever retries it, and told the same to all (decision 12).

The proposal is taken by a conditional write before the change, and what the change came to is kept
under it. Refuses to know what any tool does.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
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
# Seconds of waiting after which no run is started any more: an answer is due within 29.
_LAST_START: Final = 5.0


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
        started = self._clock.now()
        waited, pause, lease_left = 0.0, _FIRST_PAUSE, 0
        while waited < limits.CONFIRMATION_WAIT_SECONDS:
            proposal = self.proposals.kept(opened.proposal.tenant, opened.proposal.id)
            if proposal.state is ProposalState.DONE:
                return told_again(self.proposals.opened(proposal, "outcome", proposal.outcome))
            if proposal.state is ProposalState.DECLINED:
                raise ConflictError("confirmation_declined")
            lease_left = self._lease_left(proposal)
            if lease_left == 0:
                # Whoever waited for long has no time left for a run of its own.
                if waited > _LAST_START:
                    raise _running(1)
                result = self._tried(proposal, opened, run)
                if result is not None:
                    return result
                # Its own run was no waiting: what another made of it is still to be told.
                started = self._clock.now() - timedelta(seconds=waited)
            self._wait(pause)
            # A look at the store takes time too, and much of it when all are busy.
            passed = (self._clock.now() - started).total_seconds()
            waited, pause = max(waited + pause, passed), min(pause * 2, _LONGEST_PAUSE)
        raise _running(lease_left)

    def answered(self, opened: OpenedProposal) -> OpenedProposal:
        """Return a proposal once its person has answered, or as it is after a while.

        Raises:
            ConflictError: `confirmation_expired`: it is no longer kept.

        """
        waited, pause = 0.0, _FIRST_PAUSE
        while opened.proposal.waits_for_yes(self._clock.now()):
            if waited >= limits.CONFIRMATION_WAIT_SECONDS:
                break
            self._wait(pause)
            waited, pause = waited + pause, min(pause * 2, _LONGEST_PAUSE)
            kept = self.proposals.kept(opened.proposal.tenant, opened.proposal.id)
            opened = replace(opened, proposal=kept)
        return opened

    def decline(self, opened: OpenedProposal) -> None:
        """Never run this change; to decline twice is to decline.

        Raises:
            ConflictError: `confirmation_done`: it ran.
            UnavailableError: `confirmation_running`: it was begun.

        """
        if self._store.decline(opened.proposal.tenant, opened.proposal.id):
            return
        proposal = self.proposals.kept(opened.proposal.tenant, opened.proposal.id)
        if proposal.state is ProposalState.DONE:
            raise ConflictError("confirmation_done")
        if proposal.state is not ProposalState.DECLINED:
            raise _running(self._lease_left(proposal))

    def _lease_left(self, proposal: Proposal) -> int:
        """Return for how many seconds another apply may still run; 0 for none."""
        if proposal.lease_until is None:
            return 0
        left = (proposal.lease_until - self._clock.now()).total_seconds()
        return max(0, math.ceil(left))

    def _tried(self, proposal: Proposal, opened: OpenedProposal, run: Run) -> ToolResult | None:
        """Run a change that nobody runs; None if another apply was faster."""
        now = self._clock.now()
        end = proposal.expires_at
        if proposal.attempts:
            end += timedelta(seconds=limits.CONFIRMATION_RESUME_SECONDS)
        if now >= end:
            raise ConflictError("confirmation_expired")
        lease_until = now + timedelta(seconds=limits.CONFIRMATION_LEASE_SECONDS)
        taken = self._store.take(proposal, now=now, lease_until=lease_until)
        return None if taken is None else self._carried_out(taken, opened, run)

    def _carried_out(self, taken: Proposal, opened: OpenedProposal, run: Run) -> ToolResult | None:
        """Run a change under its lease; None if the lease was lost to another run."""
        confirmed = Confirmed(operation=taken.id, pins=opened.call.pins, resumed=taken.attempts > 1)
        try:
            outcome = _outcome_of(run, confirmed)
            finished = self._finished(taken, outcome)
        except Exception:
            # What is done already bears the mark of this confirmation: a retry goes on from there.
            self._release(taken)
            raise
        if not finished:
            return None
        if isinstance(outcome, ArchivoltError):
            raise outcome
        return outcome

    def _finished(self, taken: Proposal, outcome: ToolResult | ArchivoltError) -> bool:
        failed = isinstance(outcome, ArchivoltError)
        text = outcome_of_error(outcome) if failed else outcome_of_result(outcome)
        sealed = self.proposals.sealed(taken, "outcome", text)
        return self._store.finish(taken, outcome=sealed)

    def _release(self, taken: Proposal) -> None:
        # If it cannot be given back, the lease ends by itself.
        with suppress(UnavailableError):
            self._store.release(taken)


def _outcome_of(run: Run, confirmed: Confirmed) -> ToolResult | ArchivoltError:
    """Run a change and return what it came to; what a retry may make good is raised."""
    try:
        return run(confirmed)
    except UnavailableError:
        raise
    except ArchivoltError as error:
        return error


def _running(seconds: int) -> UnavailableError:
    return UnavailableError("confirmation_running", retry_after=max(1, seconds))
