"""Proposals in a dictionary, each step of them one atomic change."""

import threading
from dataclasses import replace
from datetime import datetime

from archivolt.domain.identity import TenantId, UserId
from archivolt.ports.confirmations import Proposal, ProposalState


class InMemoryConfirmations:
    """A `ConfirmationStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._proposals: dict[tuple[TenantId, str], Proposal] = {}

    def add(self, proposal: Proposal) -> None:
        with self._lock:
            self._keep(proposal)

    def get(self, tenant: TenantId, proposal_id: str) -> Proposal | None:
        with self._lock:
            return self._proposals.get((tenant, proposal_id))

    def waiting(
        self, tenant: TenantId, user: UserId, *, now: datetime, limit: int
    ) -> list[Proposal]:
        with self._lock:
            found = [
                replace(each, sealed_call="")
                for each in self._proposals.values()
                if (each.tenant, each.user) == (tenant, user) and each.waits_for_yes(now)
            ]
        return sorted(found, key=lambda one: (one.expires_at, one.id), reverse=True)[:limit]

    def take(self, proposal: Proposal, *, now: datetime, lease_until: datetime) -> Proposal | None:
        with self._lock:
            stored = self._proposals.get((proposal.tenant, proposal.id))
            if stored is None or not _is_free(stored, now):
                return None
            return self._keep(
                replace(
                    stored,
                    state=ProposalState.RUNNING,
                    lease_until=lease_until,
                    attempts=stored.attempts + 1,
                )
            )

    def finish(self, taken: Proposal, *, outcome: str) -> bool:
        with self._lock:
            if not self._is_held(taken):
                return False
            self._keep(replace(taken, state=ProposalState.DONE, lease_until=None, outcome=outcome))
            return True

    def release(self, taken: Proposal) -> None:
        with self._lock:
            if self._is_held(taken):
                self._keep(replace(taken, state=ProposalState.PENDING, lease_until=None))

    def decline(self, tenant: TenantId, proposal_id: str) -> bool:
        with self._lock:
            stored = self._proposals.get((tenant, proposal_id))
            if stored is None or stored.state is not ProposalState.PENDING or stored.attempts:
                return False
            self._keep(replace(stored, state=ProposalState.DECLINED))
            return True

    def approve(self, tenant: TenantId, proposal_id: str) -> bool:
        with self._lock:
            stored = self._proposals.get((tenant, proposal_id))
            if stored is None or stored.state is not ProposalState.PENDING:
                return False
            self._keep(replace(stored, approved=True))
            return True

    def _keep(self, proposal: Proposal) -> Proposal:
        self._proposals[proposal.tenant, proposal.id] = proposal
        return proposal

    def _is_held(self, taken: Proposal) -> bool:
        stored = self._proposals.get((taken.tenant, taken.id))
        return (
            stored is not None
            and stored.state is ProposalState.RUNNING
            and stored.attempts == taken.attempts
        )


def _is_free(stored: Proposal, now: datetime) -> bool:
    if stored.state is ProposalState.RUNNING:
        return stored.lease_until is not None and stored.lease_until <= now
    return stored.state is ProposalState.PENDING
