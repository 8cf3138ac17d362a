"""Proposals in a table of their own (decision 12).

    PROPOSAL#{tenant}#{id}    HEAD             the proposal, its state and its outcome
    PROPOSAL#{tenant}#{id}    PART#{number}    its sealed call, in parts that fit into items
    WAITING#{tenant}#{user}   {end}#{id}       one that needs its user's yes, until it ends

A call can be a whole document. Its parts are there before the head, which makes the proposal one;
nothing but the head changes afterwards. Every step writes a mark of its own, by which one whose
answer was lost knows itself when it is repeated.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, Key, Put, Update
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import PROPOSAL_KEPT_DAYS
from archivolt.ports.confirmations import Proposal, ProposalState

_HEAD: Final = "HEAD"
# An item holds at most 400 KB (Amazon DynamoDB developer guide, "Quotas"); what is sealed is ASCII.
_PART_CHARS: Final = 350_000
# What an agent proposed and somebody answered keeps its mark: a look may find nothing that waits.
_MARKS_A_LOOK: Final = 100
_MAX_LOOKS: Final = 20


class DynamoConfirmations:
    """A `ConfirmationStore` in the confirmations table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def add(self, proposal: Proposal) -> None:
        """Keep a new proposal."""
        ttl = int((proposal.expires_at + timedelta(days=PROPOSAL_KEPT_DAYS)).timestamp())
        key = _key(proposal.tenant, proposal.id)
        call = proposal.sealed_call
        parts = [call[start : start + _PART_CHARS] for start in range(0, len(call), _PART_CHARS)]
        for number, part in enumerate(parts):
            place = key._replace(sk=f"PART#{number:04d}")
            self._table.write(Put(item={**place._asdict(), "text": part, "ttl": ttl}))
        # A transaction of one: repeating a lost request cannot conflict with itself.
        head = Put(item={**key._asdict(), **_head(proposal), "ttl": ttl}, condition=ABSENT)
        self._table.transact([head, *_mark(proposal)])

    def get(self, tenant: TenantId, proposal_id: str) -> Proposal | None:
        """Return a proposal, strongly consistent; None if there is none."""
        if not is_key_text(proposal_id):
            return None
        items = list(self._table.items(_key(tenant, proposal_id).pk))
        if not items or items[0]["sk"] != _HEAD:
            return None
        return _proposal(items[0], "".join(item["text"] for item in items[1:]))

    def waiting(
        self, tenant: TenantId, user: UserId, *, now: datetime, limit: int
    ) -> list[Proposal]:
        """Return a user's pending proposals that need their yes and wait for it still."""
        ahead = KeyCondition("pk").eq(_waiting(tenant, user)) & KeyCondition("sk").gt(_end(now))
        found: list[Proposal] = []
        after: Mapping[str, str] | None = None
        for _ in range(_MAX_LOOKS):
            page = self._table.page(ahead, limit=_MARKS_A_LOOK, after=after, descending=True)
            keys = [_key(tenant, mark["id"]) for mark in page.items]
            heads = self._table.get_many(keys)
            proposals = [_proposal(heads[key], "") for key in keys if key in heads]
            found += [each for each in proposals if each.waits_for_yes(now)]
            after = page.last_key
            if after is None or len(found) >= limit:
                break
        return found[:limit]

    def take(self, proposal: Proposal, *, now: datetime, lease_until: datetime) -> Proposal | None:
        """Take it for one apply."""
        ended = _state(ProposalState.RUNNING) & Attr("lease_until").lte(to_number(now))
        item = self._step(
            Update(
                key=_key(proposal.tenant, proposal.id),
                set={
                    "state": ProposalState.RUNNING.value,
                    "lease_until": to_number(lease_until),
                },
                add={"attempts": 1},
                condition=_state(ProposalState.PENDING) | ended,
            )
        )
        return None if item is None else _proposal(item, proposal.sealed_call)

    def finish(self, taken: Proposal, *, outcome: str) -> bool:
        """Store the outcome of the apply that holds the lease."""
        return self._give_back(taken, {"state": ProposalState.DONE.value, "outcome": outcome})

    def release(self, taken: Proposal) -> None:
        """Give the lease back without an outcome."""
        self._give_back(taken, {"state": ProposalState.PENDING.value})

    def decline(self, tenant: TenantId, proposal_id: str) -> bool:
        """Mark a pending proposal as declined."""
        if not is_key_text(proposal_id):
            return False
        update = Update(
            key=_key(tenant, proposal_id),
            set={"state": ProposalState.DECLINED.value},
            condition=_state(ProposalState.PENDING) & Attr("attempts").eq(0),
        )
        return self._step(update) is not None

    def approve(self, tenant: TenantId, proposal_id: str) -> bool:
        """Keep a person's yes to a pending proposal."""
        if not is_key_text(proposal_id):
            return False
        update = Update(
            key=_key(tenant, proposal_id),
            set={"approved": True},
            condition=_state(ProposalState.PENDING),
        )
        return self._step(update) is not None

    def _give_back(self, taken: Proposal, changes: Mapping[str, Value]) -> bool:
        held = _state(ProposalState.RUNNING) & Attr("attempts").eq(taken.attempts)
        update = Update(
            key=_key(taken.tenant, taken.id), set=changes, remove=("lease_until",), condition=held
        )
        return self._step(update) is not None

    def _step(self, update: Update) -> StoredItem | None:
        """Do one step and return the head as it is then; None if it is not to be done."""
        mine = uuid.uuid4().hex
        try:
            return self._table.update(replace(update, set={**update.set, "step": mine}))
        except ConditionFailedError:
            there = self._table.get(update.key)
            return there if there and there.get("step") == mine else None


def _key(tenant: TenantId, proposal_id: str) -> Key:
    return Key(f"PROPOSAL#{tenant}#{proposal_id}", _HEAD)


def _waiting(tenant: TenantId, user: UserId) -> str:
    return f"WAITING#{tenant}#{user}"


def _end(moment: datetime) -> str:
    return f"{int(moment.timestamp()):012d}"


def _mark(proposal: Proposal) -> Sequence[Put]:
    if not proposal.sealed_preview:
        return ()
    place = Key(
        _waiting(proposal.tenant, proposal.user), f"{_end(proposal.expires_at)}#{proposal.id}"
    )
    ttl = int(proposal.expires_at.timestamp())
    return (Put(item={**place._asdict(), "id": proposal.id, "ttl": ttl}),)


def _state(state: ProposalState) -> ConditionBase:
    return Attr("state").eq(state.value)


def _head(proposal: Proposal) -> dict[str, Value]:
    return {
        "id": proposal.id,
        "tenant": proposal.tenant,
        "user": proposal.user,
        "tool": proposal.tool,
        "state": proposal.state.value,
        "created_at": to_number(proposal.created_at),
        "expires_at": to_number(proposal.expires_at),
        "attempts": proposal.attempts,
        "outcome": proposal.outcome,
        "preview": proposal.sealed_preview,
        "approved": proposal.approved,
        "program": proposal.program,
    }


def _proposal(item: StoredItem, sealed_call: str) -> Proposal:
    lease = item.get("lease_until")
    return Proposal(
        id=item["id"],
        tenant=TenantId(item["tenant"]),
        user=UserId(item["user"]),
        tool=item["tool"],
        state=ProposalState(item["state"]),
        created_at=from_number(item["created_at"]),
        expires_at=from_number(item["expires_at"]),
        sealed_call=sealed_call,
        lease_until=None if lease is None else from_number(lease),
        outcome=item["outcome"],
        attempts=item["attempts"],
        sealed_preview=item.get("preview", ""),
        approved=item.get("approved", False),
        program=item.get("program", ""),
    )
