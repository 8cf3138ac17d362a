"""The changes of runs that wait for people, beside the runs."""

from collections.abc import Sequence
from datetime import datetime

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.run_events import RunEvents
from archivolt.adapters.dynamodb.run_items import (
    approval_item,
    approval_key,
    approval_of,
    run_key,
)
from archivolt.adapters.dynamodb.table import ConditionFailedError
from archivolt.adapters.dynamodb.writes import ABSENT, Put, Update
from archivolt.domain.run import ApprovalState, Run, RunApproval, RunEvent

_SECRETS = ("sealed", "task_token")
_REPLACED = ("id", "expires_at", "sealed", "proposal", "vault", "decided_by", "decided_at")


class RunApprovals(RunEvents):
    """The part of a `RunStore` that keeps changes; each step is one conditional write."""

    def put_approval(
        self,
        run: Run,
        approval: RunApproval,
        *,
        instead_of: str = "",
        events: Sequence[RunEvent] = (),
    ) -> bool:
        """Keep a change that waits, in the place of another one or where there is none."""
        item = approval_item(run, approval)
        if not instead_of:
            return self._kept(run, [Put(item=item, condition=ABSENT)], events)
        changed = {name: item[name] for name in _REPLACED}
        update = Update(
            key=approval_key(run, approval.call),
            set=changed,
            condition=Attr("id").eq(instead_of) & Attr("state").eq(approval.state.value),
        )
        return self._kept(run, [update], events)

    def approvals(self, run: Run) -> list[RunApproval]:
        """Return the changes that wait for a person or did."""
        pk = run_key(run.tenant, run.id).pk
        return [approval_of(item) for item in self._table.items(pk, prefix="APPROVAL#")]

    def decide(
        self,
        run: Run,
        approval: RunApproval,
        state: ApprovalState,
        *,
        by: str,
        at: datetime,
        events: Sequence[RunEvent] = (),
    ) -> RunApproval | None:
        """Decide on a change, once."""
        key = approval_key(run, approval.call)
        update = Update(
            key=key,
            set={"state": state.value, "decided_by": by, "decided_at": at.isoformat()},
            condition=Attr("id").eq(approval.id) & Attr("state").eq(ApprovalState.PENDING.value),
        )
        if not self._kept(run, [update], events):
            return None
        decided = self._table.get(key)
        return None if decided is None else approval_of(decided)

    def keep_task_token(self, run: Run, approval: RunApproval, token: str) -> RunApproval | None:
        """Note what lets the execution that waits go on."""
        key = approval_key(run, approval.call)
        there = Attr("sealed").exists()
        try:
            item = self._table.update(Update(key=key, set={"task_token": token}, condition=there))
        except ConditionFailedError:
            return None
        return approval_of(item)

    def _close_approvals(self, run: Run) -> None:
        """Decline what waits still in a run that is over, and keep of all only who said what."""
        for approval in self.approvals(run):
            if not approval.sealed:
                continue  # closed before
            closed = {
                "state": ApprovalState.DECLINED.value,
                "decided_at": run.updated_at.isoformat(),
            }
            waits = approval.state is ApprovalState.PENDING
            self._table.update(
                Update(
                    key=approval_key(run, approval.call),
                    set=closed if waits else {},
                    remove=_SECRETS,
                    condition=Attr("id").eq(approval.id),
                )
            )
