"""Agent runs in the table of conversations (decision 84).

    RUN#{tenant}#{id}    RUN                       the head: who, what for, how far
    RUN#{tenant}#{id}    STATE#{part}              where its loop stands, sealed
    RUN#{tenant}#{id}    CALL#{place}              what a call came to, sealed
    RUN#{tenant}#{id}    APPROVAL#{place}          a change that waits for a person, or did
    RUN#{tenant}#{id}    EVENT#{number}            what happened
    RUN#{tenant}#{id}    RESULT#{part}             what it brought
    RUN#{tenant}#{id}    OPEN                      it is not over

The index `by_last_use` has the heads by their owners, and what is open under `OPEN_RUNS`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.messages import from_parts, to_parts
from archivolt.adapters.dynamodb.run_approvals import RunApprovals
from archivolt.adapters.dynamodb.run_events import ROUNDS, event_writes
from archivolt.adapters.dynamodb.run_items import (
    fitting,
    kept_until,
    last_use_of,
    owner_pk,
    run_item,
    run_key,
    run_of,
)
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    is_key_text,
)
from archivolt.adapters.dynamodb.writes import ABSENT, Delete, Key, Put, Write
from archivolt.domain.conversation import Message
from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
)
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.run import Run, RunEvent, RunId

_INDEX: Final = "by_last_use"
_OPEN: Final = "OPEN_RUNS"
_PART_CHARS: Final = 350_000
# A transaction carries at most 4 MB (Amazon DynamoDB developer guide, "Quotas").
_MAX_STATE_CHARS: Final = 3_000_000
_SECRET_PARTS: Final = ("STATE#", "CALL#")


class DynamoRuns(RunApprovals):
    """A `RunStore` in the conversations table."""

    def create(self, run: Run, sealed: str, events: Sequence[RunEvent]) -> Run:
        """Keep a new run with where its loop stands."""
        kept = replace(run, revision=1, event_count=len(events))
        entry = {
            **run_key(run.tenant, run.id, "OPEN")._asdict(),
            "owner_pk": _OPEN,
            "last_use": last_use_of(run),
            "tenant": run.tenant,
            "id": run.id,
        }
        writes: list[Write] = [
            Put(item=run_item(kept), condition=ABSENT),
            Put(item=entry),
            *_state_writes(kept, sealed),
            *event_writes(run, events, after=0),
        ]
        try:
            self._table.transact(writes)
        except ConditionFailedError as error:
            raise ConflictError("conflict") from error
        return kept

    def get(self, tenant: TenantId, run_id: RunId) -> Run:
        """Return a run."""
        item = self._table.get(run_key(tenant, run_id)) if is_key_text(run_id) else None
        if item is None:
            raise NotFoundError("run_not_found")
        return run_of(item)

    def save(
        self,
        run: Run,
        *,
        sealed: str | None = None,
        events: Sequence[RunEvent] = (),
        result: Message | None = None,
    ) -> Run:
        """Keep the next state of a run with its events, all or none."""
        over = run.status.over
        beside: list[Write] = [
            *(_state_writes(run, sealed) if sealed and not over else []),
            *(_result_writes(run, result) if result else []),
            *([Delete(key=run_key(run.tenant, run.id, "OPEN"))] if over else []),
        ]
        kept = self._with_events(run, events, beside)
        if over:
            self.forget(run)
        return kept

    def _with_events(self, run: Run, events: Sequence[RunEvent], beside: list[Write]) -> Run:
        """Write a head whose count of events others may move meanwhile."""
        count = run.event_count
        for _ in range(ROUNDS):
            kept = replace(run, revision=run.revision + 1, event_count=count + len(events))
            unchanged = Attr("revision").eq(run.revision) & Attr("event_count").eq(count)
            head = Put(item=run_item(kept), condition=unchanged)
            try:
                self._table.transact([head, *beside, *event_writes(run, events, after=count)])
            except ConditionFailedError as error:
                current = self._table.get(run_key(run.tenant, run.id))
                if current is None or current["revision"] != run.revision:
                    raise ConflictError("conflict") from error
                count = current["event_count"]
            else:
                return kept
        raise UnavailableError("unavailable")

    def forget(self, run: Run) -> None:
        """Remove what was said in a run that is over, as `save` does of one that ends."""
        pk = run_key(run.tenant, run.id).pk
        found = self._table.items(pk, attributes=["pk", "sk"])
        self._table.delete_many(
            [Key(item["pk"], item["sk"]) for item in found if item["sk"].startswith(_SECRET_PARTS)]
        )
        self._close_approvals(run)

    def sealed_state(self, run: Run) -> str:
        """Return where the loop of a run stands."""
        parts = list(self._table.items(run_key(run.tenant, run.id).pk, prefix="STATE#"))
        if not parts:
            raise NotFoundError("run_not_found")
        # A longer one before may have left parts behind it.
        return "".join(part["json"] for part in parts[: parts[0]["parts"]])

    def result(self, run: Run) -> Message | None:
        """Return what a run brought."""
        parts = [
            item["json"]
            for item in self._table.items(run_key(run.tenant, run.id).pk, prefix="RESULT#")
        ]
        return from_parts(parts) if parts else None

    def keep_outcome(
        self, run: Run, place: str, sealed: str, events: Sequence[RunEvent] = ()
    ) -> bool:
        """Keep what the call of a place came to, unless that is known already."""
        key = run_key(run.tenant, run.id, f"CALL#{place}")
        item = {**key._asdict(), "json": fitting(sealed), "ttl": kept_until(run)}
        return self._kept(run, [Put(item=item, condition=ABSENT)], events)

    def outcome(self, run: Run, place: str) -> str | None:
        """Return what the call of a place came to."""
        item = self._table.get(run_key(run.tenant, run.id, f"CALL#{place}"))
        return None if item is None else item["json"]

    def of_user(
        self, tenant: TenantId, user: UserId, *, limit: int, after: str | None = None
    ) -> tuple[list[Run], str | None]:
        """Return one page of a user's runs, last active first."""
        page = self._table.page(
            KeyCondition("owner_pk").eq(owner_pk(tenant, user)),
            index=_INDEX,
            limit=limit + 1,
            after=_start(tenant, user, after),
            descending=True,
        )
        shown = page.items[:limit]
        next_page = shown[-1]["last_use"] if len(page.items) > limit else None
        return [run_of(item) for item in shown], next_page

    def unfinished(self) -> Iterator[tuple[TenantId, RunId]]:
        """Yield the runs of all tenants that are not over."""
        last_key = None
        while True:
            page = self._table.page(
                KeyCondition("owner_pk").eq(_OPEN), index=_INDEX, after=last_key
            )
            yield from [(TenantId(item["tenant"]), RunId(item["id"])) for item in page.items]
            last_key = page.last_key
            if last_key is None:
                return

    def delete(self, run: Run) -> None:
        """Remove a run and all that is kept of it, the head last: a deletion can be repeated."""
        key = run_key(run.tenant, run.id)
        # What was added meanwhile is there before the head is gone, and not after.
        while found := list(self._table.items(key.pk, attributes=["pk", "sk"])):
            self._table.delete_many([Key(i["pk"], i["sk"]) for i in found if i["sk"] != key.sk])
            self._table.write(Delete(key=key))


def _state_writes(run: Run, sealed: str) -> list[Write]:
    if len(sealed) > _MAX_STATE_CHARS:
        raise TooLargeError("turn_too_large", size=len(sealed), limit=_MAX_STATE_CHARS)
    parts = [sealed[start : start + _PART_CHARS] for start in range(0, len(sealed), _PART_CHARS)]
    beside = {"parts": len(parts), "ttl": kept_until(run)}
    return [
        Put(
            item={**run_key(run.tenant, run.id, f"STATE#{n:03d}")._asdict(), "json": part, **beside}
        )
        for n, part in enumerate(parts)
    ]


def _result_writes(run: Run, result: Message) -> list[Write]:
    return [
        Put(item={**run_key(run.tenant, run.id, f"RESULT#{n:03d}")._asdict(), "json": part})
        for n, part in enumerate(to_parts(result))
    ]


def _start(tenant: TenantId, user: UserId, after: str | None) -> dict[str, Any] | None:
    """Return the index's own key of the entry that a page ended with."""
    if after is None:
        return None
    _, separator, run_id = after.partition("#")
    if not separator or not is_key_text(after) or not run_id:
        raise InvalidRequestError("unknown_page")
    return {
        **run_key(tenant, RunId(run_id))._asdict(),
        "owner_pk": owner_pk(tenant, user),
        "last_use": after,
    }
