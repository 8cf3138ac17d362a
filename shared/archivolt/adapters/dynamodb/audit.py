"""Who did what, in the audit table: one partition per tenant and day, in order of time.

    TENANT#{tenant}#{date}    {time}#{unique}    the entry

A look at the log goes back day by day, and ends after some days or items: its cursor then says
where the next one starts.
"""

import re
import uuid
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable, StoredItem
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, Put
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.identity import Principal, Role, TenantId, TokenKind, UserId
from archivolt.ports.governance import AuditEntry, AuditPage

# A date, and the sort key of the last entry that was looked at; without, the whole day is left.
_CURSOR: Final = re.compile(r"(2\d{3}-\d\d-\d\d)/(\d\d:\d\d:\d\d\.\d{6}#[0-9a-f-]{36})?", re.ASCII)
_TIME: Final = "%H:%M:%S.%f"
# Before and after every sort key of a day.
_FIRST: Final = "0"
_LAST: Final = "~"
# How many days, or parts of a day, are looked at for one page.
_LOOKS: Final = 40


class DynamoAuditLog:
    """An `AuditLog` in the audit table; no role may change or remove an item."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def append(self, entry: AuditEntry) -> None:
        """Add an entry."""
        # One that is there already was put by an attempt of ours whose answer was lost.
        with suppress(ConditionFailedError):
            self._table.write(Put(item=_item(entry), condition=ABSENT))

    def page(
        self,
        tenant: TenantId,
        *,
        since: datetime,
        until: datetime,
        user: UserId | None = None,
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
                if user in {None, item["user"]}:
                    entries.append(_entry(item))
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


def _item(entry: AuditEntry) -> dict[str, Value]:
    at = entry.at.astimezone(UTC)
    principal = entry.principal
    return {
        "pk": _pk(principal.tenant, at.date()),
        "sk": f"{at:{_TIME}}#{uuid.uuid4()}",
        "tenant": principal.tenant,
        "user": principal.user,
        "role": principal.role.value,
        "token_id": principal.token_id,
        "token_kind": principal.kind.value,
        "action": entry.action,
        "at": at.isoformat(),
        "outcome": entry.outcome,
        "surface": entry.surface,
        "milliseconds": entry.milliseconds,
        "arguments_digest": entry.arguments_digest,
        "vault": entry.vault,
        "path": entry.path,
        "details": entry.details,
    }


def _entry(item: StoredItem) -> AuditEntry:
    return AuditEntry(
        principal=Principal(
            tenant=TenantId(item["tenant"]),
            user=UserId(item["user"]),
            role=Role(item["role"]),
            token_id=item["token_id"],
            kind=TokenKind(item["token_kind"]),
        ),
        action=item["action"],
        at=datetime.fromisoformat(item["at"]),
        outcome=item["outcome"],
        surface=item["surface"],
        milliseconds=item["milliseconds"],
        arguments_digest=item["arguments_digest"],
        vault=item["vault"],
        path=item["path"],
        details=item["details"],
    )
