"""Where conversations are kept."""

from datetime import datetime
from typing import Protocol

from archivolt.domain.conversation import Conversation, ConversationId, Message, WaitingTurn
from archivolt.domain.identity import TenantId, UserId


class ConversationStore(Protocol):
    """Keeps conversations, always within a tenant (S23). Implementations pass `tests/contract`."""

    def create(self, conversation: Conversation) -> None:
        """Record a new conversation with the messages that it has.

        Raises:
            ConflictError: `conflict`: the id is taken.

        """
        ...

    def get(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation with its messages, in order.

        Raises:
            NotFoundError: `conversation_not_found`.

        """
        ...

    def latest(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation with its latest messages, as many as a model is shown, in order.

        They have at least `MAX_HISTORY_CHARS` or are `MAX_HISTORY_MESSAGES`, where there are so
        many: what this takes does not grow with the conversation.

        Raises:
            NotFoundError: `conversation_not_found`.

        """
        ...

    def head(self, tenant: TenantId, conversation_id: ConversationId) -> Conversation:
        """Return a conversation as it is now, without its messages and without what waits.

        Raises:
            NotFoundError: `conversation_not_found`.

        """
        ...

    def ask_stop(self, conversation: Conversation, at: datetime) -> None:
        """Note on a conversation that the turn that holds it shall end; the next append forgets it.

        Raises:
            ConflictError: `conflict`: that turn is over.
            NotFoundError: `conversation_not_found`.

        """
        ...

    def append(
        self,
        conversation: Conversation,
        messages: list[Message],
        *,
        title: str | None = None,
        busy_until: datetime | None = None,
        waiting: WaitingTurn | None = None,
    ) -> Conversation:
        """Add messages after the last, all or none, and return the new state.

        It has the messages that `conversation` has, and these.

        `busy_until` is stored with them: the turn that answers holds the conversation until then;
        None gives it back. An answer (messages, and the conversation given back) also says what
        waits for a person from then on: `waiting`, or nothing. Anything else leaves that as it is.

        Raises:
            ConflictError: `conflict`: another turn was appended since `conversation` was read.
            NotFoundError: `conversation_not_found`: it was deleted meanwhile.

        """
        ...

    def rename(self, conversation: Conversation, title: str) -> Conversation:
        """Change the title.

        Raises:
            NotFoundError: `conversation_not_found`.

        """
        ...

    def of_user(
        self, tenant: TenantId, user: UserId, *, limit: int, after: str | None = None
    ) -> tuple[list[Conversation], str | None]:
        """Return one page of a user's conversations, last used first, and the next page's key."""
        ...

    def delete(self, conversation: Conversation) -> None:
        """Remove the conversation and every message at once (S21); repeating is no error."""
        ...
