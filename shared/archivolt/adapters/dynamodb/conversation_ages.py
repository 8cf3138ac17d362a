"""Conversations of all tenants by their age: a walk through the index of last uses.

The index holds no messages: a walk reads some hundred bytes a conversation.

RETENTION    PLACE    where the daily purge stopped
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.writes import Key, Put, Update
from archivolt.domain.conversation import Conversation, ConversationId
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import PURGE_HOLD_SECONDS
from archivolt.ports.clock import Clock
from archivolt.ports.retention import AgePage, ConversationAge

_INDEX: Final = "by_last_use"
_PLACE: Final = Key("RETENTION", "PLACE")
_READ: Final = ("tenant", "id", "updated_at")


class DynamoConversationAges:
    """`ConversationAges` in the conversations table; `per_page` at once, or as many as come."""

    def __init__(self, table: DynamoTable, clock: Clock, *, per_page: int | None = None) -> None:
        self._table = table
        self._conversations = DynamoConversations(table)
        self._clock = clock
        self._per_page = per_page

    def page(self, *, after: str | None = None) -> AgePage:
        """Return the next conversations of a walk through all."""
        start = json.loads(after) if after else None
        page = self._table.scan_page(
            index=_INDEX, limit=self._per_page, after=start, attributes=_READ
        )
        return AgePage(
            conversations=[
                ConversationAge(
                    tenant=TenantId(item["tenant"]),
                    id=ConversationId(item["id"]),
                    last_use=datetime.fromisoformat(item["updated_at"]),
                )
                for item in page.items
            ],
            next_after=json.dumps(page.last_key) if page.last_key else None,
        )

    def purge(self, tenant: TenantId, conversation_id: ConversationId, *, since: datetime) -> bool:
        """Remove a conversation with its messages, unless it was used since then."""
        if not is_key_text(conversation_id):
            return False
        # Of one width, so that text order is the order of time.
        moment = since.astimezone(UTC).isoformat(timespec="microseconds")
        until = self._clock.now() + timedelta(seconds=PURGE_HOLD_SECONDS)
        held = Update(
            key=Key(f"CONVERSATION#{tenant}#{conversation_id}", "CONVERSATION"),
            set={"busy_until": until.isoformat()},
            condition=Attr("updated_at").lt(moment),
        )
        try:
            head = self._table.update(held)
        except ConditionFailedError:
            return False
        self._conversations.delete(_conversation(head))
        return True


def _conversation(head: StoredItem) -> Conversation:
    return Conversation(
        id=ConversationId(head["id"]),
        tenant=TenantId(head["tenant"]),
        owner=UserId(head["owner"]),
        title=head["title"],
        created_at=datetime.fromisoformat(head["created_at"]),
        updated_at=datetime.fromisoformat(head["updated_at"]),
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
