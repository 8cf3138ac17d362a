"""Who did what, in the audit table: one partition per tenant and day, in order of time.

    TENANT#{tenant}#{date}    {time}#{unique}    the entry, its place in the chain, its digests
    HEADS#{tenant}            {lane}             the last entry of a lane, and the day of its first
    TENANTS                   {tenant}           that the tenant has entries

An entry and the head of its lane are written in one transaction. A look at the log goes back day
by day, and ends after some days or items: its cursor then says where the next one starts.
"""

import re
import secrets
import threading
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable, StoredItem
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, Key, Put
from archivolt.domain.audit import (
    AuditEntry,
    ChainHead,
    ChainPlace,
    KeptEntry,
    entry_digest,
    named,
    what_of,
    who_of,
)
from archivolt.domain.audit_fields import entry_of, fields_of, kept_of
from archivolt.domain.audit_limits import AUDIT_KEPT_DAYS, AUDIT_LANES
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.identity import TenantId, UserId
from archivolt.ports.audit import AuditPage

# A date, and the sort key of the last entry that was looked at; without, the whole day is left.
_CURSOR: Final = re.compile(r"(2\d{3}-\d\d-\d\d)/(\d\d:\d\d:\d\d\.\d{6}#[0-9a-f-]{36})?", re.ASCII)
_TIME: Final = "%H:%M:%S.%f"
# Before and after every sort key of a day.
_FIRST: Final = "0"
_LAST: Final = "~"
# How many days, or parts of a day, are looked at for one page.
_LOOKS: Final = 40


# How often a lane that others write to is tried, before another one is.
_TRIES_PER_LANE: Final = 3
_LANES_TRIED: Final = 4


class DynamoAuditLog:
    """An `AuditLog` and `AuditChain` in the audit table; no role may change or remove an entry."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table
        self._heads: dict[tuple[TenantId, int], ChainHead] = {}
        self._of_thread = threading.local()

    def append(self, entry: AuditEntry) -> None:
        """Add an entry to a lane that this thread has to itself, unless chance shared it out."""
        for _ in range(_LANES_TRIED):
            lane = self._lane()
            for _ in range(_TRIES_PER_LANE):
                if self._appended(entry, lane):
                    return
            del self._of_thread.lane
        raise UnavailableError("unavailable")

    def _lane(self) -> int:
        lane: int | None = getattr(self._of_thread, "lane", None)
        if lane is None:
            lane = self._of_thread.lane = secrets.randbelow(AUDIT_LANES)
        return lane

    def _appended(self, entry: AuditEntry, lane: int) -> bool:
        """Add an entry after the head that is known; False if another one came first."""
        tenant = entry.principal.tenant
        head = self._heads.get((tenant, lane)) or self._head(tenant, lane)
        kept = _in_place(entry, head.next_place)
        writes = [Put(item=_item(kept), condition=ABSENT), _new_head(kept, head)]
        if head.number == 0:
            writes.append(Put(item={"pk": _TENANTS, "sk": tenant}))
        try:
            self._table.transact(writes)
        except ConditionFailedError:
            # It is there if the answer to an attempt of ours was lost.
            found = self._heads[tenant, lane] = self._head(tenant, lane)
            return found.digest == kept.digest
        self._heads[tenant, lane] = _head_after(kept, head)
        return True

    def _head(self, tenant: TenantId, lane: int) -> ChainHead:
        item = self._table.get(Key(_heads_pk(tenant), _lane_sk(lane)))
        return _chain_head(item) if item else ChainHead(lane=lane)

    def tenants(self) -> Sequence[TenantId]:
        """Return the tenants that have entries."""
        return [TenantId(item["sk"]) for item in self._table.items(_TENANTS)]

    def heads(self, tenant: TenantId) -> Sequence[ChainHead]:
        """Return the last entry of each lane that has any."""
        return [_chain_head(item) for item in self._table.items(_heads_pk(tenant))]

    def entries(self, tenant: TenantId, day: date) -> Iterator[KeptEntry]:
        """Yield the entries of a day in the order of time."""
        for item in self._table.items(_pk(tenant, day)):
            yield kept_of(item)

    def page(
        self,
        tenant: TenantId,
        *,
        since: datetime,
        until: datetime,
        user: UserId | None = None,
        action: str = "",
        limit: int,
        cursor: str | None = None,
    ) -> AuditPage:
        """Return entries of a tenant, the newest first."""
        oldest = since.astimezone(UTC)
        day, before = _start(until.astimezone(UTC), cursor)
        entries: list[AuditEntry] = []
        for _ in range(_LOOKS):
            if day < oldest.date():
                return AuditPage(entries=entries)
            first = f"{oldest:{_TIME}}" if day == oldest.date() else _FIRST
            items, more = self._look(tenant, day, first=first, before=before, limit=limit)
            for item in items:
                before = item["sk"]
                if user in {None, item["user"]} and _is_of(item["action"], action):
                    entries.append(entry_of(item))
                if len(entries) == limit:
                    return AuditPage(entries=entries, next_cursor=f"{day}/{before}")
            if not more:
                day, before = day - timedelta(days=1), _LAST
        return AuditPage(entries=entries, next_cursor=f"{day}/{before.removesuffix(_LAST)}")

    def _look(
        self, tenant: TenantId, day: date, *, first: str, before: str, limit: int
    ) -> tuple[list[StoredItem], bool]:
        """Return the last entries of a day from `first` to `before`, and whether it has more.

        The entry at `before` was shown already, and may take one place of those that are read.
        """
        within = KeyCondition("pk").eq(_pk(tenant, day))
        within &= KeyCondition("sk").between(first, max(first, before))
        page = self._table.page(within, limit=limit + 1, descending=True)
        items = [item for item in page.items if item["sk"] != before]
        return items, page.last_key is not None


def _pk(tenant: TenantId, day: date) -> str:
    return f"TENANT#{tenant}#{day.isoformat()}"


def _start(until: datetime, cursor: str | None) -> tuple[date, str]:
    """Return the day to begin with, and the sort key before which its entries are wanted."""
    newest = (until.date(), f"{until:{_TIME}}")
    if cursor is None:
        return newest
    match = _CURSOR.fullmatch(cursor)
    try:
        day = date.fromisoformat(match[1]) if match else None
    except ValueError:
        day = None
    if match is None or day is None:
        raise InvalidRequestError("unknown_page")
    return min(newest, (day, match[2] or _LAST))


def _is_of(action: str, wanted: str) -> bool:
    """Tell whether an action is the wanted one or a step of it; all are if none is wanted."""
    return not wanted or wanted in {action, action.partition(":")[2]}


_TENANTS: Final = "TENANTS"


def _heads_pk(tenant: TenantId) -> str:
    return f"HEADS#{tenant}"


def _lane_sk(lane: int) -> str:
    return f"{lane:02}"


def _in_place(entry: AuditEntry, place: ChainPlace) -> KeptEntry:
    who = named(who_of(entry), secrets.token_hex(16))
    what = named(what_of(entry), secrets.token_hex(16))
    digest = entry_digest(entry, place, who=who, what=what)
    return KeptEntry(entry=entry, place=place, digest=digest, who=who, what=what)


def _head_after(kept: KeptEntry, before: ChainHead) -> ChainHead:
    return ChainHead(
        lane=kept.place.lane,
        number=kept.place.number,
        digest=kept.digest,
        first_day=before.first_day or kept.entry.day,
    )


def _new_head(kept: KeptEntry, before: ChainHead) -> Put:
    """Return the write of a lane's head, which holds while the head is the one before."""
    head = _head_after(kept, before)
    item: dict[str, Value] = {
        "pk": _heads_pk(kept.entry.principal.tenant),
        "sk": _lane_sk(head.lane),
        "number": head.number,
        "digest": head.digest,
        "first_day": f"{head.first_day}",
    }
    condition = ABSENT if before.number == 0 else Attr("digest").eq(before.digest)
    return Put(item=item, condition=condition)


def _chain_head(item: StoredItem) -> ChainHead:
    return ChainHead(
        lane=int(item["sk"]),
        number=item["number"],
        digest=item["digest"],
        first_day=date.fromisoformat(item["first_day"]),
    )


def _item(kept: KeptEntry) -> dict[str, Value]:
    at = kept.entry.at.astimezone(UTC)
    return fields_of(kept) | {
        "pk": _pk(kept.entry.principal.tenant, at.date()),
        "sk": f"{at:{_TIME}}#{uuid.uuid4()}",
        "ttl": int((at + timedelta(days=AUDIT_KEPT_DAYS)).timestamp()),
    }
