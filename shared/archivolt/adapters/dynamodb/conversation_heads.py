"""The head of a conversation as an item of its table: everything but what was said."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase

from archivolt.adapters.dynamodb.moments import to_text
from archivolt.adapters.dynamodb.table import StoredItem
from archivolt.adapters.dynamodb.values import Item
from archivolt.adapters.dynamodb.writes import Key
from archivolt.domain.conversation import Conversation, ConversationId, Message
from archivolt.domain.identity import TenantId, UserId

HEAD: Final = "CONVERSATION"
"""Its sort key."""


def head_item(conversation: Conversation) -> Item:
    """Return the item of a conversation that begins."""
    return {
        **head_key(conversation.tenant, conversation.id)._asdict(),
        "id": conversation.id,
        "tenant": conversation.tenant,
        "owner": conversation.owner,
        "title": conversation.title,
        "created_at": conversation.created_at.isoformat(),
        "message_count": conversation.message_count,
        "private": is_private(conversation, conversation.messages),
        "busy_until": optional(conversation.busy_until),
        "owner_pk": owner_pk(conversation.tenant, conversation.owner),
        **last_used(conversation.id, conversation.updated_at),
    }


def conversation_of(head: StoredItem, messages: tuple[Message, ...] = ()) -> Conversation:
    """Return the conversation of an item that is a head."""
    busy_until, stop_asked_at = head["busy_until"], head.get("stop_asked_at")
    return Conversation(
        id=ConversationId(head["id"]),
        tenant=TenantId(head["tenant"]),
        owner=UserId(head["owner"]),
        title=head["title"],
        created_at=datetime.fromisoformat(head["created_at"]),
        updated_at=datetime.fromisoformat(head["updated_at"]),
        message_count=head["message_count"],
        busy_until=datetime.fromisoformat(busy_until) if busy_until else None,
        messages=messages,
        # What earlier versions of the product did not note may be.
        private=head.get("private", head["message_count"] > 0),
        stop_asked_at=datetime.fromisoformat(stop_asked_at) if stop_asked_at else None,
    )


def as_read(conversation: Conversation) -> ConditionBase:
    """Return the condition that no turn has begun or ended since a conversation was read."""
    same_turn = Attr("busy_until").eq(optional(conversation.busy_until))
    return Attr("message_count").eq(conversation.message_count) & same_turn


def is_private(conversation: Conversation, messages: Iterable[Message]) -> bool:
    """Tell whether a conversation is private with these messages."""
    return conversation.private or any(message.private for message in messages)


def head_key(tenant: TenantId, conversation_id: ConversationId) -> Key:
    """Return where the head of a conversation is."""
    return Key(f"CONVERSATION#{tenant}#{conversation_id}", HEAD)


def owner_pk(tenant: TenantId, user: UserId) -> str:
    """Return where the index has a user's conversations."""
    return f"OWNER#{tenant}#{user}"


def last_used(conversation_id: ConversationId, at: datetime) -> dict[str, str]:
    """Return what the index sorts a conversation by."""
    moment = to_text(at)
    return {"updated_at": moment, "last_use": f"{moment}#{conversation_id}"}


def optional(moment: datetime | None) -> str | None:
    """Return a moment as it is stored."""
    return moment.isoformat() if moment else None
