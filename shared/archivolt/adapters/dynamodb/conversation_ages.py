"""Conversations and runs of all tenants by their age: a walk through the index of last uses.

The index holds no messages: a walk reads some hundred bytes a conversation.

RETENTION    PLACE    where the daily purge stopped
"""

import json
from datetime import datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.conversation_heads import conversation_of
from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.moments import to_text
from archivolt.adapters.dynamodb.run_items import run_key, run_of
from archivolt.adapters.dynamodb.runs import DynamoRuns
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable, StoredItem
from archivolt.adapters.dynamodb.writes import Key, Put, Update
from archivolt.domain.identity import TenantId
from archivolt.domain.retention_limits import PURGE_HOLD_SECONDS
from archivolt.domain.run import RunId
from archivolt.ports.clock import Clock
from archivolt.ports.retention import AgePage, ConversationAge

_INDEX: Final = "by_last_use"
_PLACE: Final = Key("RETENTION", "PLACE")
_READ: Final = ("pk", "sk", "last_use")
_HEAD, _RUN = "CONVERSATION", "RUN"


class DynamoConversationAges:
    """`ConversationAges` in the conversations table; `per_page` at once, or as many as come."""

    def __init__(self, table: DynamoTable, clock: Clock, *, per_page: int | None = None) -> None:
        self._table = table
        self._conversations = DynamoConversations(table)
        self._runs = DynamoRuns(table)
        self._clock = clock
        self._per_page = per_page

    def page(self, *, after: str | None = None) -> AgePage:
        """Return the next conversations of a walk through all."""
        start = json.loads(after) if after else None
        page = self._table.scan_page(
            index=_INDEX, limit=self._per_page, after=start, attributes=_READ
        )
        ages = [_age(item) for item in page.items]
        return AgePage(
            conversations=[age for age in ages if age is not None],
            next_after=json.dumps(page.last_key) if page.last_key else None,
        )

    def purge(self, one: ConversationAge, *, since: datetime) -> bool:
        """Remove one with all that is in it, unless it was used since then."""
        return self._purge_run(one, since) if one.is_run else self._purge(one, since)

    def _purge(self, one: ConversationAge, since: datetime) -> bool:
        until = self._clock.now() + timedelta(seconds=PURGE_HOLD_SECONDS)
        held = Update(
            key=Key(f"CONVERSATION#{one.tenant}#{one.id}", _HEAD),
            set={"busy_until": until.isoformat()},
            condition=Attr("last_use").lt(to_text(since)),
        )
        try:
            head = self._table.update(held)
        except ConditionFailedError:
            return False
        self._conversations.delete(conversation_of(head))
        return True

    def _purge_run(self, one: ConversationAge, since: datetime) -> bool:
        """Remove a run; one that is over is never active again."""
        key = run_key(one.tenant, RunId(one.id))
        head = self._table.get(key)
        if head is None or head["last_use"] >= to_text(since):
            return False
        self._runs.delete(run_of(head))
        return True


def _age(item: StoredItem) -> ConversationAge | None:
    """Return the age that an entry of the index tells; None for one that is no head."""
    if item["sk"] not in {_HEAD, _RUN}:
        return None
    _, tenant, conversation_id = item["pk"].split("#", 2)
    return ConversationAge(
        tenant=TenantId(tenant),
        id=conversation_id,
        last_use=datetime.fromisoformat(item["last_use"].partition("#")[0]),
        is_run=item["sk"] == _RUN,
    )


class DynamoSweepPlace:
    """A `SweepPlace` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def load(self) -> str | None:
        """Return the place, None for the beginning."""
        return (self._table.get(_PLACE) or {}).get("place")

    def save(self, place: str | None) -> None:
        """Keep the place."""
        self._table.write(Put(item={**_PLACE._asdict(), "place": place}))
