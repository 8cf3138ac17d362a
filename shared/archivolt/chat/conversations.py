"""Reading, renaming and deleting conversations, with the rights of S26 to S32.

The owner may everything. An administrator of the tenant may read and delete; to everybody else a
conversation of another person does not exist.
"""

from collections.abc import Callable
from datetime import datetime

from archivolt.chat.archive import ConversationSearch, FoundConversation
from archivolt.chat.running import confirmations_in
from archivolt.chat.waiting import WaitingTurns
from archivolt.domain.conversation import Conversation, ConversationId
from archivolt.domain.erasure import Erasure
from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.identity import Principal
from archivolt.domain.limits import MAX_TITLE_CHARS
from archivolt.domain.rights import may_reach_others
from archivolt.domain.stream import ConfirmationRequired
from archivolt.governance.conversation_receipts import ConversationReceipts
from archivolt.ports.clock import Clock
from archivolt.ports.conversations import ConversationStore


class ConversationService:
    """What a person may do with conversations beside talking in them.

    `current` leads the citations of a conversation to where documents are now.
    """

    def __init__(
        self,
        store: ConversationStore,
        waiting: WaitingTurns,
        clock: Clock,
        receipts: ConversationReceipts,
        *,
        current: Callable[[Principal, Conversation], Conversation],
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._clock = clock
        self._receipts = receipts
        self._current = current

    def now(self) -> datetime:
        """Return the moment against which a conversation counts as busy."""
        return self._clock.now()

    def page(
        self, principal: Principal, *, limit: int, after: str | None = None
    ) -> tuple[list[Conversation], str | None]:
        """Return the caller's own conversations, last used first, and the next page's key."""
        return self._store.of_user(principal.tenant, principal.user, limit=limit, after=after)

    def search(
        self, principal: Principal, words: str, *, after: str | None = None
    ) -> tuple[list[FoundConversation], str | None]:
        """Return those of the caller's own conversations that have the words, and where to go on.

        Raises:
            InvalidRequestError: `unknown_page`.

        """
        return ConversationSearch(self._store).search(principal, words, after=after)

    def read(self, principal: Principal, conversation_id: str) -> Conversation:
        """Return a conversation with its messages.

        Raises:
            NotFoundError: `conversation_not_found`: absent, or another person's.

        """
        found = self._store.get(principal.tenant, ConversationId(conversation_id))
        if found.owner != principal.user and not may_reach_others(principal, "read_conversation"):
            raise NotFoundError("conversation_not_found")
        return found

    def opened(self, principal: Principal, conversation_id: str) -> Conversation:
        """Return a conversation as `read`, its citations leading to where documents are now."""
        return self._current(principal, self.read(principal, conversation_id))

    def confirmations(
        self, principal: Principal, conversation: Conversation
    ) -> tuple[ConfirmationRequired, ...]:
        """Return what waits for the caller's word; nothing waits for anybody but the owner.

        Raises:
            UnavailableError: `secret_unreadable`.

        """
        if conversation.owner != principal.user:
            return ()
        kept = self._waiting.of(conversation)
        return confirmations_in(kept.state if kept else None)

    def rename(self, principal: Principal, conversation_id: str, title: str) -> Conversation:
        """Give the caller's own conversation a title.

        Raises:
            NotFoundError: `conversation_not_found`.
            ForbiddenError: `forbidden`: an administrator, who may see it, does not own it.
            InvalidRequestError: `invalid_request`: the title is empty or too long.

        """
        found = self.read(principal, conversation_id)
        if found.owner != principal.user:
            raise ForbiddenError("forbidden")
        words = " ".join(title.encode("utf-8", "replace").decode().split())
        if not words or len(words) > MAX_TITLE_CHARS:
            raise InvalidRequestError("invalid_request", problem="title_size")
        return self._store.rename(found, words)

    def stop(self, principal: Principal, conversation_id: str) -> bool:
        """Ask the answer that is being written to end; False if none is.

        Raises:
            NotFoundError: `conversation_not_found`; also to administrators, who do not talk in it.

        """
        found = self._store.head(principal.tenant, ConversationId(conversation_id))
        if found.owner != principal.user:
            raise NotFoundError("conversation_not_found")
        now = self._clock.now()
        if not found.is_busy(now):
            return False
        try:
            if found.stop_asked_at is None:
                self._store.ask_stop(found, now)
        except ConflictError:
            return False  # it has just ended, and the next one is not meant
        return True

    def delete(self, principal: Principal, conversation_id: str) -> Erasure:
        """Remove a conversation and its messages at once, and return the receipt (S21).

        Raises:
            NotFoundError: `conversation_not_found`.

        """
        found = self.read(principal, conversation_id)
        self._store.delete(found)
        return self._receipts.keep(principal, found, left=self._left(found))

    def _left(self, deleted: Conversation) -> dict[str, int]:
        """Read back what is there of a conversation that was removed: nothing."""
        try:
            there = self._store.get(deleted.tenant, deleted.id)
        except NotFoundError:
            return {}
        return {"conversations": 1, "messages": there.message_count}
