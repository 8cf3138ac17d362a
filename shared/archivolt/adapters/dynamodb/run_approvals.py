"""The changes of runs that wait for people, beside the runs."""

from datetime import datetime

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.run_items import (
    approval_item,
    approval_key,
    approval_of,
    run_key,
)
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable
from archivolt.adapters.dynamodb.writes import ABSENT, PRESENT, Put, Update
from archivolt.domain.run import ApprovalState, Run, RunApproval


class RunApprovals:
    """The part of a `RunStore` that keeps changes; each step is one conditional write."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def put_approval(self, run: Run, approval: RunApproval, *, instead_of: str = "") -> bool:
        """Keep a change that waits, in the place of another one or where there is none."""
        if not instead_of:
            return self._written(Put(item=approval_item(run, approval), condition=ABSENT))
        item = approval_item(run, approval)
        changed = {name: item[name] for name in ("id", "expires_at", "sealed", "proposal", "vault")}
        return self._updated(
            Update(
                key=approval_key(run, approval.call),
                set=changed,
                condition=Attr("id").eq(instead_of) & Attr("state").eq(ApprovalState.PENDING.value),
            )
        )

    def approvals(self, run: Run) -> list[RunApproval]:
        """Return the changes that wait for a person or did."""
        pk = run_key(run.tenant, run.id).pk
        return [approval_of(item) for item in self._table.items(pk, prefix="APPROVAL#")]

    def decide(
        self, run: Run, approval: RunApproval, state: ApprovalState, *, by: str, at: datetime
    ) -> RunApproval | None:
        """Decide on a change, once."""
        update = Update(
            key=approval_key(run, approval.call),
            set={"state": state.value, "decided_by": by, "decided_at": at.isoformat()},
            condition=Attr("id").eq(approval.id) & Attr("state").eq(ApprovalState.PENDING.value),
        )
        try:
            return approval_of(self._table.update(update))
        except ConditionFailedError:
            return None

    def keep_task_token(self, run: Run, approval: RunApproval, token: str) -> RunApproval | None:
        """Note what lets the execution that waits go on."""
        key = approval_key(run, approval.call)
        try:
            item = self._table.update(Update(key=key, set={"task_token": token}, condition=PRESENT))
        except ConditionFailedError:
            return None
        return approval_of(item)

    def _written(self, put: Put) -> bool:
        try:
            self._table.write(put)
        except ConditionFailedError:
            return False
        return True

    def _updated(self, update: Update) -> bool:
        try:
            self._table.update(update)
        except ConditionFailedError:
            return False
        return True
