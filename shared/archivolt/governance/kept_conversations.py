"""Conversations as people see them: what is over age is not there, purged or not (S19)."""

from datetime import datetime

from archivolt.domain.conversation import Conversation, ConversationId, Message, WaitingTurn
from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.governance.kept import Kept
from archivolt.ports.clock import Clock
from archivolt.ports.conversations import ConversationStore
from archivolt.ports.governance import TenantSettingsStore


class KeptConversations:
    """A `ConversationStore` that shows what its tenant still keeps.

    Args:
        store: Has all of them.
        settings: Each tenant's.
        clock: The time.

    """

    def __init__(
        self, store: ConversationStore, settings: TenantSettingsStore, clock: Clock
    ) -> None:
        self._store = store
        self._kept = Kept(settings, clock)

    def create(self, conversation: Conversation) -> None:
        """Record a new conversation with the messages that it has."""
        self._store.create(conversation)

    def get(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation with its messages, in order."""
        return self._shown(self._store.get(tenant, conversation_id))

    def latest(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation with its latest messages."""
        return self._shown(self._store.latest(tenant, conversation_id))

    def head(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation without its messages."""
        return self._shown(self._store.head(tenant, conversation_id))

    def ask_stop(self, conversation: Conversation, at: datetime) -> None:
        """Note that the turn that holds a conversation shall end."""
        self._store.ask_stop(conversation, at)

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
        return self._store.append(
            conversation, messages, title=title, busy_until=busy_until, waiting=waiting
        )

    def rename(self, conversation: Conversation, title: str) -> Conversation:
        """Change the title."""
        return self._store.rename(conversation, title)

    def of_user(
        self, tenant: TenantId, user: UserId, *, limit: int, after: str | None = None
    ) -> tuple[list[Conversation], str | None]:
        """Return one page of a user's conversations; what is over age comes last, and is not."""
        page, next_after = self._store.of_user(tenant, user, limit=limit, after=after)
        return self._kept.of_page(tenant, page, next_after)

    def delete(self, conversation: Conversation) -> None:
        """Remove the conversation and every message at once (S21)."""
        self._store.delete(conversation)

    def _shown(self, found: Conversation) -> Conversation:
        if self._kept.is_over_age(found.tenant, found):
            raise NotFoundError("conversation_not_found")
        return found
