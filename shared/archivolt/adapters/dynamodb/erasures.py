"""Erasures and their receipts, in the control table.

    ERASURE#{id}         RECEIPT          an erasure: where it stands, and its counts
    ERASURES             {id}             that it is not done
    ERASURES#{tenant}    {moment}#{id}    that it is the tenant's
    ERASURES#{tenant}#CONVERSATIONS       the same of conversations, of which there are many

Each count is an attribute of its own (`deleted:{store}`), so that it can be added to in the
transaction that removes what it counts.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.moments import (
    from_number,
    moment_or_none,
    number_or_none,
    to_number,
    to_text,
)
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, PRESENT, Delete, Key, Put, Update, Write
from archivolt.domain.erasure import (
    Erasure,
    ErasureScope,
    ErasureState,
    Subject,
    pseudonym,
)
from archivolt.domain.identity import Role, TenantId
from archivolt.domain.vault import VaultId

_OPEN: Final = "ERASURES"
_DELETED, _FOUND, _PLANNED = "deleted:", "found:", "planned:"


class Planned(NamedTuple):
    """What is about to be removed: how many things, up to which."""

    number: int
    upto: str


class DynamoErasures:
    """`ErasureRecords` in the control table, and what erasers count with."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def add(self, erasure: Erasure) -> None:
        """Note a new erasure."""
        subject = erasure.subject
        item: dict[str, Value] = {
            **_key(erasure.id)._asdict(),
            "id": erasure.id,
            "scope": subject.scope.value,
            "tenant": subject.tenant,
            "name": subject.name,
            **_vaults(subject),
            "asked_by": erasure.asked_by,
            "asked_role": erasure.asked_role.value,
            "asked_at": to_number(erasure.asked_at),
            **_progress(erasure),
            **{f"{_DELETED}{store}": number for store, number in erasure.deleted.items()},
            **{f"{_FOUND}{store}": number for store, number in erasure.found.items()},
        }
        listed = {**_listed(erasure)._asdict(), "id": erasure.id}
        writes = [Put(item=item, condition=ABSENT), Put(item=listed)]
        if erasure.state is not ErasureState.DONE:
            writes.append(Put(item=Key(_OPEN, erasure.id)._asdict()))
        self._table.transact(writes)

    def get(self, erasure_id: str) -> Erasure | None:
        """Return an erasure of any tenant."""
        item = self._table.get(_key(erasure_id)) if is_key_text(erasure_id) else None
        return _erasure(item) if item else None

    def of_tenant(
        self, tenant: TenantId, *, limit: int, after: str = "", conversations: bool = False
    ) -> tuple[Sequence[Erasure], str | None]:
        """Return one page of a tenant's erasures, the newest first, and the next page's key."""
        condition = KeyCondition("pk").eq(_list_of(tenant, conversations=conversations))
        if after:
            condition &= KeyCondition("sk").lt(after)
        page = self._table.page(condition, limit=limit, descending=True)
        keys = [_key(item["id"]) for item in page.items]
        found = self._table.get_many(keys)
        next_after = page.items[-1]["sk"] if page.items and page.last_key else None
        return [_erasure(found[key]) for key in keys if key in found], next_after

    def under_way(self, tenant: TenantId) -> Sequence[Erasure]:
        """Return the erasures of a tenant that are not done; reads those of all."""
        found = self._table.get_many([_key(erasure_id) for erasure_id in self.unfinished()])
        erasures = map(_erasure, found.values())
        return [
            each
            for each in erasures
            if each.subject.tenant == tenant and each.state is not ErasureState.DONE
        ]

    def unfinished(self) -> Sequence[str]:
        """Return the ids of those that are not done."""
        return [item["sk"] for item in self._table.items(_OPEN)]

    def take(self, erasure_id: str, *, now: datetime, until: datetime) -> Erasure | None:
        """Take one to work on it."""
        if not is_key_text(erasure_id):
            return None
        held_by_none = Attr("held_until").not_exists() | Attr("held_until").lte(to_number(now))
        taken = Update(
            key=_key(erasure_id),
            set={"held_until": to_number(until)},
            condition=PRESENT & ~Attr("state").eq(ErasureState.DONE.value) & held_by_none,
        )
        try:
            return _erasure(self._table.update(taken))
        except ConditionFailedError:
            return None

    def save(self, erasure: Erasure, *, until: datetime) -> None:
        """Note where it stands."""
        changes = {
            **_progress(erasure),
            **_vaults(erasure.subject),
            "held_until": to_number(until),
        }
        self._table.update(Update(key=_key(erasure.id), set=changes, condition=PRESENT))

    def begin_run(self, erasure: Erasure, *, until: datetime) -> Erasure:
        """Note that the next walk begins."""
        found = [f"{_FOUND}{store}" for store in erasure.found]
        changes = {**_progress(erasure), "held_until": to_number(until)}
        begun = Update(key=_key(erasure.id), set=changes, remove=found, condition=PRESENT)
        return _erasure(self._table.update(begun))

    def finish(self, erasure: Erasure) -> None:
        """Close the receipt."""
        subject = erasure.subject
        changes: dict[str, Value] = {**_progress(erasure), "vault_names": []}
        if subject.user is not None:
            changes["name"] = pseudonym(subject.tenant, subject.user)
        closed = Update(key=_key(erasure.id), set=changes, remove=["held_until"], condition=PRESENT)
        self._table.transact([closed, Delete(key=Key(_OPEN, erasure.id))])

    def removed(
        self,
        erasure: Erasure,
        store: str,
        table: DynamoTable,
        writes: Sequence[Write],
        *,
        besides: Sequence[Write] = (),
    ) -> None:
        """Do writes that each remove one thing, and count them, all or nothing.

        `besides` are done with them, and not counted.

        Raises:
            ConditionFailedError: With the positions of the writes whose conditions do not hold.

        """
        counted = self._counted(erasure, store, len(writes))
        table.transact([*writes, *besides], beside=[(self._table, counted)])

    def plan(self, erasure: Erasure, store: str, planned: Planned) -> None:
        """Note what is about to be removed where removing and counting cannot be one step."""
        noted = {f"{_PLANNED}{store}": [planned.number, planned.upto]}
        self._table.update(Update(key=_key(erasure.id), set=noted, condition=PRESENT))

    def planned(self, erasure: Erasure, store: str) -> Planned | None:
        """Return what was about to be removed, None if nothing was."""
        noted = (self._table.get(_key(erasure.id)) or {}).get(f"{_PLANNED}{store}")
        return Planned(int(noted[0]), str(noted[1])) if noted else None

    def carried_out(self, erasure: Erasure, store: str, planned: Planned) -> None:
        """Count what was planned, once; it was removed."""
        name = f"{_PLANNED}{store}"
        counted = self._counted(erasure, store, planned.number)
        self._table.update(
            Update(key=counted.key, add=counted.add, remove=[name], condition=Attr(name).exists())
        )

    def _counted(self, erasure: Erasure, store: str, number: int) -> Update:
        added = {f"{_DELETED}{store}": number, f"{_FOUND}{store}": number}
        return Update(key=_key(erasure.id), add=added, condition=PRESENT)


def _key(erasure_id: str) -> Key:
    return Key(f"ERASURE#{erasure_id}", "RECEIPT")


def _listed(erasure: Erasure) -> Key:
    subject = erasure.subject
    is_conversation = subject.scope is ErasureScope.CONVERSATION
    return Key(
        _list_of(subject.tenant, conversations=is_conversation),
        f"{to_text(erasure.asked_at)}#{erasure.id}",
    )


def _list_of(tenant: TenantId, *, conversations: bool) -> str:
    return f"{_OPEN}#{tenant}#CONVERSATIONS" if conversations else f"{_OPEN}#{tenant}"


def _vaults(subject: Subject) -> dict[str, Value]:
    return {
        "vaults": list(subject.vaults),
        "vault_names": list(subject.vault_names),
        "named_until": number_or_none(subject.named_until),
    }


def _progress(erasure: Erasure) -> dict[str, Value]:
    return {
        "state": erasure.state.value,
        "run": erasure.run,
        "step": erasure.step,
        "cursor": erasure.cursor,
        "due": number_or_none(erasure.due),
        "verified_at": [to_number(moment) for moment in erasure.verified_at],
        "done_at": number_or_none(erasure.done_at),
    }


def _erasure(item: StoredItem) -> Erasure:
    return Erasure(
        id=item["id"],
        subject=Subject(
            scope=ErasureScope(item["scope"]),
            tenant=TenantId(item["tenant"]),
            name=item["name"],
            vaults=tuple(VaultId(vault) for vault in item["vaults"]),
            vault_names=tuple(item["vault_names"]),
            named_until=moment_or_none(item.get("named_until")),
        ),
        asked_by=item["asked_by"],
        asked_role=Role(item["asked_role"]),
        asked_at=from_number(item["asked_at"]),
        state=ErasureState(item["state"]),
        run=item["run"],
        step=item["step"],
        cursor=item["cursor"],
        due=moment_or_none(item["due"]),
        deleted=_counts(item, _DELETED),
        found=_counts(item, _FOUND),
        verified_at=tuple(from_number(number) for number in item["verified_at"]),
        done_at=moment_or_none(item["done_at"]),
    )


def _counts(item: Mapping[str, Any], kind: str) -> dict[str, int]:
    return {name.removeprefix(kind): item[name] for name in sorted(item) if name.startswith(kind)}
