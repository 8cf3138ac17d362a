"""Conversations and what is kept of them (S24, S25)."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NewType

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import STOP_PATIENCE_SECONDS

ConversationId = NewType("ConversationId", str)


class Author(StrEnum):
    """Who wrote a message."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A passage an answer stands on; `uri` is a `vault://` URI that the reader can open."""

    uri: str
    vault: str
    path: str
    heading: str = ""
    page: int | None = None
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRecord:
    """A tool call as it is kept: the summary of its result, never its payload (S25).

    `status` is `success`, `error`, `declined`, or `proposed` for a change nobody agreed to so far.
    """

    tool_id: str
    tool_name: str
    arguments: dict[str, Any]
    status: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, numbered from 1.

    `private`: the model had seen what may be of documents when it wrote it. `stopped`: the person
    ended it before it was whole.
    """

    number: int
    author: Author
    text: str
    written_at: datetime
    tool_calls: tuple[ToolCallRecord, ...] = ()
    citations: tuple[Citation, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    private: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTurn:
    """A turn that waits for a person's word, sealed; past `expires_at` it is as good as gone."""

    sealed: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation of one user. `messages` is empty in listings, `waiting` is absent there.

    `busy_until`: a turn is being answered; past that moment its holder is taken for dead.
    `stop_asked_at`: since when its person wants that turn ended. `private`: one of its messages is.
    """

    id: ConversationId
    tenant: TenantId
    owner: UserId
    title: str
    created_at: datetime
    updated_at: datetime
    message_count: int = 0
    busy_until: datetime | None = None
    messages: tuple[Message, ...] = field(default=())
    waiting: WaitingTurn | None = None
    private: bool = False
    stop_asked_at: datetime | None = None

    def is_busy(self, now: datetime) -> bool:
        """Tell whether a turn is being answered; one that heeds no stop is taken for dead."""
        if self.busy_until is None or self.busy_until <= now:
            return False
        asked = self.stop_asked_at
        return asked is None or now < asked + timedelta(seconds=STOP_PATIENCE_SECONDS)
