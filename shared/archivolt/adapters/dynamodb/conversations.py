"""Conversations in a table of their own (S18, S23).

    CONVERSATION#{tenant}#{id}    CONVERSATION               title, owner, number of messages
    CONVERSATION#{tenant}#{id}    EARLIER#{countdown}        twenty messages (`message_blocks`)
    CONVERSATION#{tenant}#{id}    MESSAGE#{number}#{part}    a message, in one or more parts
    CONVERSATION#{tenant}#{id}    WAITING#{part}             a turn that waits for a person, sealed

The index `by_last_use` has the owner as `owner_pk` and the moment of the last message, followed by
the id, as `last_use`; only the first kind of item is in it.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.conversation_heads import (
    HEAD,
    as_read,
    conversation_of,
    head_item,
    head_key,
    is_private,
    last_used,
    optional,
    owner_pk,
)
from archivolt.adapters.dynamodb.latest_messages import (
    is_enough,
    latest_items,
    latest_of,
    messages_of,
)
from archivolt.adapters.dynamodb.message_blocks import message_writes, put_together
from archivolt.adapters.dynamodb.table import (
    MAX_TRANSACTION_WRITES,
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.waiting_turns import stale_writes, waiting_turn, waiting_writes
from archivolt.adapters.dynamodb.writes import ABSENT, PRESENT, Delete, Key, Put, Update
from archivolt.domain.conversation import Conversation, ConversationId, Message, WaitingTurn
from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
)
from archivolt.domain.identity import TenantId, UserId

_INDEX: Final = "by_last_use"
_DELETE_ROUNDS: Final = 5
# A transaction carries at most 4 MB (Amazon DynamoDB developer guide, "Quotas").
_MAX_APPENDED_BYTES: Final = 3_500_000


class DynamoConversations:
    """A `ConversationStore` in the conversations table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def create(self, conversation: Conversation) -> None:
        """Record a new conversation with the messages that it has."""
        item = head_item(conversation)
        begun = replace(conversation, messages=())
        messages = _writes(begun, conversation.messages, None, busy=bool(conversation.busy_until))
        try:
            # A transaction even of one: repeating a lost request cannot conflict with itself.
            self._table.transact([Put(item=item, condition=ABSENT), *messages])
        except ConditionFailedError as error:
            raise ConflictError("conflict") from error

    def get(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation with its messages, in order."""
        key = head_key(tenant, conversation_id)
        items = list(self._table.items(key.pk)) if is_key_text(conversation_id) else []
        found = _whole(items)
        # What moves into a block between two pages of a long one is in neither: it is read again.
        if len(found.messages) >= found.message_count:
            return found
        return _whole(list(self._table.items(key.pk)))

    def latest(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation with its latest messages; its two reads go side by side."""
        key = head_key(tenant, conversation_id)
        items = latest_items(self._table, key.pk) if is_key_text(conversation_id) else []
        found = _whole(items)
        shown = latest_of(found.messages)
        newest = shown[-1].number if shown else 0
        # A turn that was appended between the two reads is in one of them alone.
        if newest == found.message_count and (is_enough(shown) or not newest):
            return replace(found, messages=shown)
        return self.get(tenant, conversation_id)

    def head(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation without its messages."""
        if not is_key_text(conversation_id):
            raise NotFoundError("conversation_not_found")
        return conversation_of(self._head(tenant, conversation_id))

    def ask_stop(self, conversation: Conversation, at: datetime) -> None:
        """Note that the turn that holds a conversation shall end."""
        asked = Update(
            key=head_key(conversation.tenant, conversation.id),
            set={"stop_asked_at": at.isoformat()},
            condition=as_read(conversation),
        )
        try:
            # As a transaction: it is tried again where the answer is being stored just now.
            self._table.transact([asked])
        except ConditionFailedError as error:
            self._head(conversation.tenant, conversation.id)
            raise ConflictError("conflict") from error

    def append(
        self,
        conversation: Conversation,
        messages: list[Message],
        *,
        title: str | None = None,
        busy_until: datetime | None = None,
        waiting: WaitingTurn | None = None,
    ) -> Conversation:
        """Add messages after the last, all or none, and return the new state."""
        after = replace(
            conversation,
            title=conversation.title if title is None else title,
            updated_at=messages[-1].written_at if messages else conversation.updated_at,
            message_count=conversation.message_count + len(messages),
            busy_until=busy_until,
            messages=(*conversation.messages, *messages),
            waiting=waiting if messages and busy_until is None else conversation.waiting,
            private=is_private(conversation, messages),
            stop_asked_at=None,
        )
        head = Update(
            key=head_key(conversation.tenant, conversation.id),
            set={
                "message_count": after.message_count,
                "private": after.private,
                "busy_until": optional(busy_until),
                **(last_used(after.id, after.updated_at) if messages else {}),
                **({} if title is None else {"title": title}),
            },
            remove=("stop_asked_at",),
            condition=as_read(conversation),
        )
        try:
            writes = _writes(conversation, messages, after.waiting, busy=bool(busy_until))
            self._table.transact([head, *writes])
        except ConditionFailedError as error:
            self._head(conversation.tenant, conversation.id)
            raise ConflictError("conflict") from error
        return after

    def rename(self, conversation: Conversation, title: str) -> Conversation:
        """Change the title."""
        key = head_key(conversation.tenant, conversation.id)
        try:
            self._table.update(Update(key=key, set={"title": title}, condition=PRESENT))
        except ConditionFailedError as error:
            raise NotFoundError("conversation_not_found") from error
        return self.get(conversation.tenant, conversation.id)

    def of_user(
        self, tenant: TenantId, user: UserId, *, limit: int, after: str | None = None
    ) -> tuple[list[Conversation], str | None]:
        """Return one page of a user's conversations, last used first, and the next page's key."""
        page = self._table.page(
            KeyCondition("owner_pk").eq(owner_pk(tenant, user)),
            index=_INDEX,
            limit=limit + 1,
            after=_start(tenant, user, after),
            descending=True,
        )
        shown = page.items[:limit]
        next_page = shown[-1]["last_use"] if len(page.items) > limit else None
        return [conversation_of(item) for item in shown], next_page

    def delete(self, conversation: Conversation) -> None:
        """Remove every message, then the conversation itself (S21).

        In this order a deletion that broke off is still there to be repeated. A turn that appends
        meanwhile changes the count, and the round is done again.

        Raises:
            UnavailableError: Turns went on being appended.

        """
        key = head_key(conversation.tenant, conversation.id)
        for _ in range(_DELETE_ROUNDS):
            head = self._table.get(key)
            items = self._table.items(key.pk, attributes=["pk", "sk"])
            parts = [Key(item["pk"], item["sk"]) for item in items if item["sk"] != HEAD]
            self._table.delete_many(parts)
            if head is None:
                return
            unchanged = Attr("message_count").eq(head["message_count"])
            try:
                self._table.transact([Delete(key=key, condition=unchanged)])
            except ConditionFailedError:
                continue
            return
        raise UnavailableError("unavailable")

    def _head(self, tenant: TenantId, conversation_id: ConversationId) -> StoredItem:
        head = self._table.get(head_key(tenant, conversation_id))
        if head is None:
            raise NotFoundError("conversation_not_found")
        return head


def _writes(
    conversation: Conversation,
    messages: Sequence[Message],
    waiting: WaitingTurn | None,
    *,
    busy: bool,
) -> list[Put | Delete]:
    """Return what brings the messages and what waits from one state to the next."""
    pk = head_key(conversation.tenant, conversation.id).pk
    puts = message_writes(pk, messages)
    stale: list[Delete] = []
    if waiting != conversation.waiting:
        puts += waiting_writes(pk, waiting)
        stale = stale_writes(pk, conversation.waiting, waiting)
    _check_size(puts)
    plain = [*puts, *stale]
    if busy or not messages:
        # The model waits for its question to be stored; for its answer nobody waits.
        return plain
    together = [*put_together(pk, conversation.messages, messages, puts), *stale]
    return together if len(together) < MAX_TRANSACTION_WRITES else plain


def _check_size(writes: list[Put]) -> None:
    size = sum(len(str(write.item["json"]).encode()) for write in writes)
    if size > _MAX_APPENDED_BYTES or len(writes) >= MAX_TRANSACTION_WRITES:
        raise TooLargeError("turn_too_large", size=size, limit=_MAX_APPENDED_BYTES)


def _whole(items: Sequence[StoredItem]) -> Conversation:
    """Return the conversation of a head and what follows it.

    Raises:
        NotFoundError: `conversation_not_found`: there is no head.

    """
    if not items or items[0]["sk"] != HEAD:
        raise NotFoundError("conversation_not_found")
    head, *said = items
    return replace(conversation_of(head, messages_of(said)), waiting=waiting_turn(said))


def _start(tenant: TenantId, user: UserId, after: str | None) -> dict[str, str] | None:
    """Return the index's own key of the entry that a page ended with."""
    if after is None:
        return None
    _, separator, conversation_id = after.partition("#")
    if not separator or not is_key_text(after) or not conversation_id:
        raise InvalidRequestError("unknown_page")
    return {
        **head_key(tenant, ConversationId(conversation_id))._asdict(),
        "owner_pk": owner_pk(tenant, user),
        "last_use": after,
    }
