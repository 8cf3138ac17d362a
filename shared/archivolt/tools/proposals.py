"""A proposal: one record that waits, and one signed token that confirms it (decision 12).

Refuses to run anything.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from archivolt.domain import limits
from archivolt.domain.errors import ConflictError, InvalidRequestError, TooLargeError
from archivolt.domain.identity import Principal, TenantId
from archivolt.domain.packing import packed, unpacked
from archivolt.domain.tool import Surface
from archivolt.ports.clock import Clock
from archivolt.ports.confirmations import (
    ConfirmationClaims,
    ConfirmationStore,
    ConfirmationTokens,
    Proposal,
    ProposalState,
)
from archivolt.ports.governance import SecretBox


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """The call that a person is asked to confirm, and what it is based on.

    `vault` is the id of the vault that the arguments name: another one may have the name by then.
    """

    tool: str
    arguments: Mapping[str, Any]
    vault: str
    pins: Mapping[str, str]
    surface: Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedProposal:
    """A proposal whose token its own user gave back."""

    call: ProposedCall
    proposal: Proposal


class Proposals:
    """Makes proposals and opens their tokens.

    Args:
        store: Where they wait.
        tokens: Signs what a person gives back.
        box: Seals calls and outcomes.
        clock: The time.

    """

    def __init__(
        self, store: ConfirmationStore, tokens: ConfirmationTokens, box: SecretBox, clock: Clock
    ) -> None:
        self.store = store
        self.clock = clock
        self._tokens = tokens
        self._box = box

    def propose(
        self, principal: Principal, call: ProposedCall, *, seconds: int, preview: str = ""
    ) -> tuple[str, Proposal]:
        """Keep a proposal for so many seconds; return the token that confirms it, and the proposal.

        `preview` is what a person is shown whose yes it takes; "" if it takes none.

        Raises:
            TooLargeError: `content_too_large`.

        """
        now = self.clock.now().replace(microsecond=0)
        proposal = Proposal(
            id=uuid.uuid4().hex,
            tenant=principal.tenant,
            user=principal.user,
            tool=call.tool,
            state=ProposalState.PENDING,
            created_at=now,
            expires_at=now + timedelta(seconds=seconds),
            sealed_call="",
            program=principal.program,
        )
        token, sealed_call = self._signed(proposal, call)
        sealed_preview = self.sealed(proposal, "preview", preview) if preview else ""
        proposal = replace(proposal, sealed_call=sealed_call, sealed_preview=sealed_preview)
        self.store.add(proposal)
        return token, proposal

    def open(self, principal: Principal, tool: str, token: str, surface: Surface) -> OpenedProposal:
        """Return what a token of this caller, for this tool, at this door, confirms.

        Whether it may still be carried out is not asked here.

        Raises:
            InvalidRequestError: `confirmation_invalid`: it is no such token.
            ConflictError: `confirmation_expired`: its record is gone.

        """
        claims = self._tokens.read(token)
        expected = (principal.tenant, principal.user, tool, surface)
        if (claims.tenant, claims.user, claims.tool, claims.surface) != expected:
            raise InvalidRequestError("confirmation_invalid")
        proposal = self.kept(principal.tenant, claims.id)
        same = (proposal.user, proposal.tool, proposal.expires_at)
        if same != (claims.user, claims.tool, claims.expires_at):
            raise InvalidRequestError("confirmation_invalid")
        given = self._given(claims, proposal)
        return OpenedProposal(
            call=ProposedCall(tool=tool, surface=surface, **given), proposal=proposal
        )

    def kept(self, tenant: TenantId, proposal_id: str) -> Proposal:
        """Return a proposal as it is now.

        Raises:
            ConflictError: `confirmation_expired`: it is no longer kept.

        """
        kept = self.store.get(tenant, proposal_id)
        if kept is None:
            raise ConflictError("confirmation_expired")
        return kept

    def sealed(self, proposal: Proposal, part: str, text: str) -> str:
        """Return a text of a proposal as it is kept."""
        return self._box.seal(packed(text), tenant=proposal.tenant, field=_field(proposal, part))

    def opened(self, proposal: Proposal, part: str, sealed: str) -> str:
        """Return a text of a proposal that was sealed.

        Raises:
            UnavailableError: `secret_unreadable`.

        """
        return unpacked(
            self._box.open(sealed, tenant=proposal.tenant, field=_field(proposal, part))
        )

    def _signed(self, proposal: Proposal, call: ProposedCall) -> tuple[str, str]:
        """Return the token, and the call sealed if it is too long for the token."""
        given = {
            "arguments": dict(call.arguments),
            "vault": call.vault,
            "pins": dict(call.pins),
        }
        canonical = _canonical(given)
        size, limit = len(canonical.encode()), limits.MAX_REQUEST_BYTES
        if size > limit:
            raise TooLargeError("content_too_large", size=size, limit=limit)
        claims = ConfirmationClaims(
            id=proposal.id,
            tenant=proposal.tenant,
            user=proposal.user,
            tool=proposal.tool,
            surface=call.surface,
            expires_at=proposal.expires_at,
            digest=_digest(canonical),
        )
        if size <= limits.MAX_CARRIED_CALL_BYTES:
            token = self._tokens.sign(replace(claims, call=given))
            if len(token) <= limits.MAX_CONFIRMATION_TOKEN_CHARS:
                return token, ""
        return self._tokens.sign(claims), self.sealed(proposal, "call", canonical)

    def _given(self, claims: ConfirmationClaims, proposal: Proposal) -> Mapping[str, Any]:
        if claims.call is not None:
            return claims.call
        canonical = self.opened(proposal, "call", proposal.sealed_call)
        if _digest(canonical) != claims.digest:
            raise InvalidRequestError("confirmation_invalid")
        return json.loads(canonical)


def _field(proposal: Proposal, part: str) -> str:
    return f"confirmation/{proposal.id}/{part}"


def _canonical(given: Mapping[str, Any]) -> str:
    return json.dumps(given, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _digest(canonical: str) -> str:
    return hashlib.sha256(canonical.encode()).hexdigest()
