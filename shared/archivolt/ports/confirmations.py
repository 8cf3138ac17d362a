"""Where proposals wait for their confirmation (decision 12)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.tool import Surface


class ProposalState(StrEnum):
    """How far a proposal has come."""

    PENDING = "pending"
    RUNNING = "running"
    """Taken by one apply, until its lease ends."""
    DONE = "done"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One change that waits, runs, or is done. Texts are sealed to the tenant.

    `id` is the token's `jti`. `lease_until` is set while running; `outcome` once done. `attempts`
    counts how often it was taken: more than once, and an earlier apply may have had effects.
    `sealed_preview` is there for one that takes a person's yes, `approved` once they gave it.
    `program` is the name of who proposed it (`Principal.program`).
    """

    id: str
    tenant: TenantId
    user: UserId
    tool: str
    state: ProposalState
    created_at: datetime
    expires_at: datetime
    sealed_call: str
    lease_until: datetime | None = None
    outcome: str = ""
    attempts: int = 0
    sealed_preview: str = ""
    approved: bool = False
    program: str = ""

    def waits_for_yes(self, now: datetime) -> bool:
        """Tell whether a person may still say yes, and has not."""
        answered = self.approved or self.state is not ProposalState.PENDING
        return bool(self.sealed_preview) and not answered and self.expires_at > now


class ConfirmationStore(Protocol):
    """Keeps proposals; every step is one conditional write. Passes `tests/contract`.

    All may raise `UnavailableError`.
    """

    def add(self, proposal: Proposal) -> None:
        """Keep a new proposal."""
        ...

    def get(self, tenant: TenantId, proposal_id: str) -> Proposal | None:
        """Return a proposal, strongly consistent; None if there is none."""
        ...

    def waiting(
        self, tenant: TenantId, user: UserId, *, now: datetime, limit: int
    ) -> list[Proposal]:
        """Return a user's pending proposals that need their yes and wait for it still.

        At most `limit`, the last to end first, without `sealed_call`.
        """
        ...

    def take(self, proposal: Proposal, *, now: datetime, lease_until: datetime) -> Proposal | None:
        """Take it for one apply: pending, or running with a lease that has ended by `now`.

        Returns it as taken; None if another one was faster, or it is done or declined.
        """
        ...

    def finish(self, taken: Proposal, *, outcome: str) -> bool:
        """Store the outcome of the apply that holds the lease; False if it lost the lease."""
        ...

    def release(self, taken: Proposal) -> None:
        """Give the lease back without an outcome: pending again, so that a retry goes on at once.

        Without effect for one that lost the lease.
        """
        ...

    def decline(self, tenant: TenantId, proposal_id: str) -> bool:
        """Mark a pending proposal as declined; False if it is not pending, or was ever taken."""
        ...

    def approve(self, tenant: TenantId, proposal_id: str) -> bool:
        """Keep a person's yes to a pending proposal; False if it is not pending."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationClaims:
    """What a confirmation token says.

    `call` holds the arguments and the pins; None: they wait with the proposal, and `digest` is the
    SHA-256 of their canonical JSON.
    """

    id: str
    tenant: TenantId
    user: UserId
    tool: str
    surface: Surface
    expires_at: datetime
    call: Mapping[str, Any] | None = None
    digest: str = ""


class ConfirmationTokens(Protocol):
    """Signs confirmation tokens and reads them back (O27).

    Both may raise `UnavailableError`: the signing key cannot be read.
    """

    def sign(self, claims: ConfirmationClaims) -> str:
        """Return the token."""
        ...

    def read(self, token: str) -> ConfirmationClaims:
        """Return what a token of ours says; whether it has expired is the reader's to check.

        Raises:
            InvalidRequestError: `confirmation_invalid`: anything but a token as it was signed.

        """
        ...
