"""Conversations in a dictionary."""

from dataclasses import replace
from datetime import datetime

from archivolt.domain.conversation import Conversation, ConversationId, Message, WaitingTurn
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import MAX_HISTORY_CHARS, MAX_HISTORY_MESSAGES


class InMemoryConversations:
    """A `ConversationStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[TenantId, ConversationId], Conversation] = {}

    def create(self, conversation: Conversation) -> None:
        key = (conversation.tenant, conversation.id)
        if key in self._kept:
            raise ConflictError("conflict")
        self._kept[key] = conversation

    def latest(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        kept = self.get(tenant, conversation_id)
        chars, messages = 0, list[Message]()
        for message in reversed(kept.messages):
            if chars >= MAX_HISTORY_CHARS or len(messages) >= MAX_HISTORY_MESSAGES:
                break
            messages.insert(0, message)
            chars += len(message.text)
        return replace(kept, messages=tuple(messages))

    def get(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        kept = self._kept.get((tenant, conversation_id))
        if kept is None:
            raise NotFoundError("conversation_not_found")
        return kept

    def head(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        return replace(self.get(tenant, conversation_id), messages=(), waiting=None)

    def ask_stop(self, conversation: Conversation, at: datetime) -> None:
        self._keep(replace(self._as_read(conversation), stop_asked_at=at))

    def append(
        self,
        conversation: Conversation,
        messages: list[Message],
        *,
        title: str | None = None,
        busy_until: datetime | None = None,
        waiting: WaitingTurn | None = None,
    ) -> Conversation:
        kept = self._as_read(conversation)
        after = self._keep(
            replace(
                kept,
                title=kept.title if title is None else title,
                updated_at=messages[-1].written_at if messages else kept.updated_at,
                message_count=kept.message_count + len(messages),
                messages=(*kept.messages, *messages),
                busy_until=busy_until,
                waiting=waiting if messages and busy_until is None else kept.waiting,
                private=kept.private or any(message.private for message in messages),
                stop_asked_at=None,
            )
        )
        return replace(after, messages=(*conversation.messages, *messages))

    def rename(self, conversation: Conversation, title: str) -> Conversation:
        return self._keep(replace(self.get(conversation.tenant, conversation.id), title=title))

    def of_user(
        self, tenant: TenantId, user: UserId, *, limit: int, after: str | None = None
    ) -> tuple[list[Conversation], str | None]:
        mine = {
            f"{kept.updated_at.isoformat()}#{kept.id}": replace(kept, messages=(), waiting=None)
            for kept in self._kept.values()
            if (kept.tenant, kept.owner) == (tenant, user)
        }
        keys = sorted((key for key in mine if after is None or key < after), reverse=True)
        page = keys[:limit]
        return [mine[key] for key in page], page[-1] if len(keys) > limit else None

    def delete(self, conversation: Conversation) -> None:
        self._kept.pop((conversation.tenant, conversation.id), None)

    def _as_read(self, conversation: Conversation) -> Conversation:
        kept = self.get(conversation.tenant, conversation.id)
        read = (conversation.message_count, conversation.busy_until)
        if (kept.message_count, kept.busy_until) != read:
            raise ConflictError("conflict")
        return kept

    def _keep(self, conversation: Conversation) -> Conversation:
        self._kept[conversation.tenant, conversation.id] = conversation
        return conversation
