"""Runs, their events and their changes as items, and back."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from archivolt.adapters.dynamodb.moments import to_text
from archivolt.adapters.dynamodb.table import StoredItem
from archivolt.adapters.dynamodb.writes import Key
from archivolt.domain.errors import TooLargeError
from archivolt.domain.identity import Principal, Role, TenantId, TokenKind, TokenReach, UserId
from archivolt.domain.language import Language
from archivolt.domain.run import (
    ApprovalState,
    Run,
    RunApproval,
    RunCaps,
    RunEvent,
    RunId,
    RunPhase,
    RunStatus,
    RunUse,
)
from archivolt.domain.run_limits import MAX_RUN_SEALED_CHARS, RUN_STATE_KEPT_DAYS

LAST_EVENT: Final = 99_999_999
"""The highest number whose sort key is in the order of numbers."""


def run_key(tenant: TenantId, run_id: RunId, sk: str = "RUN") -> Key:
    """Return where an item of a run is."""
    return Key(f"RUN#{tenant}#{run_id}", sk)


def owner_pk(tenant: TenantId, user: UserId) -> str:
    """Return where the index lists a user's runs."""
    return f"RUN_OWNER#{tenant}#{user}"


def last_use_of(run: Run) -> str:
    """Return the place of a run in its owner's list."""
    return f"{to_text(run.updated_at)}#{run.id}"


def run_item(run: Run) -> dict[str, Any]:
    """Return the head of a run as an item."""
    return {
        **run_key(run.tenant, run.id)._asdict(),
        "id": run.id,
        "caller": json.dumps(_caller(run.principal)),
        "goal": run.goal,
        "created_at": run.created_at.isoformat(),
        "updated_at": run.updated_at.isoformat(),
        "caps": json.dumps(_fields(run.caps)),
        "use": json.dumps(_fields(run.use)),
        "status": run.status.value,
        "reason": run.reason,
        "reason_details": json.dumps(run.reason_details),
        "phase": run.phase.value,
        "language": run.language.value,
        "answers_in": run.answers_in.value,
        "provider": run.provider,
        "model": run.model,
        "digest": run.digest,
        "execution": run.execution,
        "history": run.history,
        "revision": run.revision,
        "event_count": run.event_count,
        "started_at": _text(run.started_at),
        "waiting_since": _text(run.waiting_since),
        "failing_since": _text(run.failing_since),
        "ended_by": run.ended_by,
        "token": run.token,
        "unsettled": run.unsettled,
        "owner_pk": owner_pk(run.tenant, run.owner),
        "last_use": last_use_of(run),
    }


def run_of(item: StoredItem) -> Run:
    """Return the run of a head."""
    return Run(
        id=RunId(item["id"]),
        principal=_principal(json.loads(item["caller"])),
        goal=item["goal"],
        created_at=datetime.fromisoformat(item["created_at"]),
        updated_at=datetime.fromisoformat(item["updated_at"]),
        caps=RunCaps(**json.loads(item["caps"])),
        use=RunUse(**json.loads(item["use"])),
        status=RunStatus(item["status"]),
        reason=item["reason"],
        reason_details=json.loads(item.get("reason_details", "{}")),
        phase=RunPhase(item["phase"]),
        language=Language(item["language"]),
        answers_in=Language(item["answers_in"]),
        provider=item["provider"],
        model=item["model"],
        digest=item["digest"],
        execution=item["execution"],
        history=item["history"],
        revision=item["revision"],
        event_count=item["event_count"],
        started_at=_moment(item["started_at"]),
        waiting_since=_moment(item["waiting_since"]),
        failing_since=_moment(item["failing_since"]),
        ended_by=item["ended_by"],
        token=item.get("token", ""),
        unsettled=item.get("unsettled", False),
    )


def approval_item(run: Run, approval: RunApproval) -> dict[str, Any]:
    """Return a change that waits, or did, as an item."""
    return {
        **approval_key(run, approval.call)._asdict(),
        "id": approval.id,
        "call": approval.call,
        "tool": approval.tool,
        "expires_at": approval.expires_at.isoformat(),
        "sealed": fitting(approval.sealed),
        "proposal": approval.proposal,
        "vault": approval.vault,
        "state": approval.state.value,
        "task_token": approval.task_token,
        "decided_by": approval.decided_by,
        "decided_at": _text(approval.decided_at),
        "ttl": kept_until(run),
    }


def approval_of(item: StoredItem) -> RunApproval:
    """Return the change of an item."""
    return RunApproval(
        id=item["id"],
        call=item["call"],
        tool=item["tool"],
        expires_at=datetime.fromisoformat(item["expires_at"]),
        sealed=item.get("sealed", ""),
        proposal=item["proposal"],
        vault=item["vault"],
        state=ApprovalState(item["state"]),
        task_token=item.get("task_token", ""),
        decided_by=item["decided_by"],
        decided_at=_moment(item["decided_at"]),
    )


def approval_key(run: Run, place: str) -> Key:
    """Return where the change of a place is; text order is the order of places."""
    step, _, index = place.partition(".")
    return run_key(run.tenant, run.id, f"APPROVAL#{int(step):06d}.{int(index):04d}")


def kept_until(run: Run) -> int:
    """Return when what was said in a run goes by itself, were it not removed at its end."""
    return int((run.updated_at + timedelta(days=RUN_STATE_KEPT_DAYS)).timestamp())


def fitting(sealed: str) -> str:
    """Return what is sealed of a call, if an item holds it.

    Raises:
        TooLargeError: `turn_too_large`.

    """
    if len(sealed) > MAX_RUN_SEALED_CHARS:
        raise TooLargeError("turn_too_large", size=len(sealed), limit=MAX_RUN_SEALED_CHARS)
    return sealed


def event_item(run: Run, event: RunEvent, number: int) -> dict[str, Any]:
    """Return an event as an item."""
    return {
        **run_key(run.tenant, run.id, event_sk(number))._asdict(),
        "name": event.name,
        "data": json.dumps(event.data, ensure_ascii=False),
        "at": event.at.isoformat(),
        "number": number,
    }


def event_sk(number: int) -> str:
    """Return the sort key of an event."""
    return f"EVENT#{number:08d}"


def event_of(item: StoredItem) -> RunEvent:
    """Return the event of an item."""
    return RunEvent(
        name=item["name"],
        data=json.loads(item["data"]),
        at=datetime.fromisoformat(item["at"]),
        number=item["number"],
    )


def _caller(principal: Principal) -> dict[str, Any]:
    vaults = principal.reach.vaults
    return {
        "tenant": principal.tenant,
        "user": principal.user,
        "role": principal.role.value,
        "token_id": principal.token_id,
        "kind": principal.kind.value,
        "read_only": principal.reach.read_only,
        "vaults": None if vaults is None else sorted(vaults),
        "program": principal.program,
    }


def _principal(caller: Mapping[str, Any]) -> Principal:
    vaults = caller["vaults"]
    reach = TokenReach(
        read_only=caller["read_only"], vaults=None if vaults is None else frozenset(vaults)
    )
    return Principal(
        tenant=TenantId(caller["tenant"]),
        user=UserId(caller["user"]),
        role=Role(caller["role"]),
        token_id=caller["token_id"],
        kind=TokenKind(caller["kind"]),
        reach=reach,
        program=caller["program"],
    )


def _fields(value: RunCaps | RunUse) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
