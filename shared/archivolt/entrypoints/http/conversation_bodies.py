"""Conversations, their messages and answers as JSON (S24 to S30)."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from archivolt.chat.archive import FoundConversation
from archivolt.chat.touched import touched_uris
from archivolt.domain.conversation import Citation, Conversation, Message, ToolCallRecord
from archivolt.domain.stream import ConfirmationRequired


class CitationBody(BaseModel):
    """A passage an answer stands on; in a stored answer the excerpt is empty (S25)."""

    uri: str
    vault: str
    path: str
    heading: str
    page: int | None
    excerpt: str

    @classmethod
    def of(cls, citation: Citation) -> "CitationBody":
        """Return a citation as JSON."""
        return cls.model_validate(citation, from_attributes=True)


class ToolCallBody(BaseModel):
    """A tool call as it is kept: `size` is that of its result, in characters (S25)."""

    tool_id: str
    tool_name: str
    arguments: dict[str, Any]
    status: str = Field(description="success, error, declined or proposed")
    size: int
    uris: list[str] = Field(description="What it is about, as `vault://` URIs to open.")

    @classmethod
    def of(cls, call: ToolCallRecord) -> "ToolCallBody":
        """Return a tool call as JSON."""
        return cls.model_validate({**asdict(call), "uris": touched_uris(call)})


class StoredMessage(BaseModel):
    """A message of a conversation."""

    number: int
    role: str = Field(description="user or assistant")
    text: str
    written_at: datetime
    tool_calls: list[ToolCallBody]
    citations: list[CitationBody]
    input_tokens: int
    output_tokens: int
    stopped: bool = Field(description="Whether its person ended it before it was whole.")

    @classmethod
    def of(cls, message: Message) -> "StoredMessage":
        """Return a message as JSON."""
        return cls(
            number=message.number,
            role=message.author.value,
            text=message.text,
            written_at=message.written_at,
            tool_calls=[ToolCallBody.of(call) for call in message.tool_calls],
            citations=[CitationBody.of(citation) for citation in message.citations],
            input_tokens=message.input_tokens,
            output_tokens=message.output_tokens,
            stopped=message.stopped,
        )


class ConversationSummary(BaseModel):
    """A conversation without its messages."""

    id: str
    title: str
    owner: str
    created_at: datetime
    updated_at: datetime
    message_count: int
    busy: bool = Field(description="Whether an answer is being written.")

    @classmethod
    def of(cls, conversation: Conversation, now: datetime) -> "ConversationSummary":
        """Return a conversation as JSON."""
        return cls(
            id=conversation.id,
            title=conversation.title,
            owner=conversation.owner,
            created_at=conversation.created_at,
            updated_at=conversation.updated_at,
            message_count=conversation.message_count,
            busy=conversation.is_busy(now),
        )


class ConfirmationBody(BaseModel):
    """A change that waits for a person: give the token back as `confirm` or `decline`."""

    confirmation_token: str
    tool_id: str
    tool_name: str
    preview: dict[str, Any]
    expires_at: datetime
    question: dict[str, Any] | None = Field(
        default=None,
        description="What a tool of an MCP server asks: `server`, and `questions` with their `id`,"
        " `message`, `parameters` (a JSON Schema of the answer) or `url`. Give the token back with"
        " `answers`, or as `decline`.",
    )

    @classmethod
    def of(cls, confirmation: ConfirmationRequired) -> "ConfirmationBody":
        """Return a change as JSON."""
        return cls.model_validate(confirmation, from_attributes=True)


class ConversationBody(ConversationSummary):
    """A conversation with its messages, oldest first."""

    messages: list[StoredMessage]
    confirmations: list[ConfirmationBody] = Field(description="What waits for its owner's word.")

    @classmethod
    def whole(
        cls,
        conversation: Conversation,
        now: datetime,
        confirmations: Iterable[ConfirmationRequired],
    ) -> "ConversationBody":
        """Return a conversation and its messages as JSON."""
        summary = ConversationSummary.of(conversation, now)
        return cls(
            **summary.model_dump(),
            messages=[StoredMessage.of(message) for message in conversation.messages],
            confirmations=[ConfirmationBody.of(each) for each in confirmations],
        )


class FoundBody(BaseModel):
    """A conversation that was found, and where."""

    conversation: ConversationSummary
    message: int = Field(description="The number of the message; 0: it is the title.")
    excerpt: str


class FoundPage(BaseModel):
    """What a search found in one part of the caller's conversations."""

    found: list[FoundBody]
    next_after: str | None = Field(description="Give it back as `after`; null on the last page.")

    @classmethod
    def of(
        cls, found: Iterable[FoundConversation], next_after: str | None, now: datetime
    ) -> "FoundPage":
        """Return findings as JSON."""
        bodies = [
            FoundBody(
                conversation=ConversationSummary.of(each.conversation, now),
                message=each.message,
                excerpt=each.excerpt,
            )
            for each in found
        ]
        return cls(found=bodies, next_after=next_after)


class ConversationPage(BaseModel):
    """One page of the caller's conversations, last used first."""

    conversations: list[ConversationSummary]
    next_after: str | None = Field(description="Give it back as `after`; null on the last page.")


class Rename(BaseModel):
    """The body of `PATCH /chat/conversations/{id}`."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    title: str


class Stopping(BaseModel):
    """What came of the wish to stop an answer."""

    stopping: bool = Field(
        description="Whether an answer is being written: it ends in about a second. False: none is."
    )


class Usage(BaseModel):
    """Tokens of all model calls of a turn; the embedded provider uses none."""

    input_tokens: int
    output_tokens: int


class NoticeBody(BaseModel):
    """Something the reader should know."""

    code: str
    message: str


class Answer(BaseModel):
    """A whole turn, for callers that asked for no stream."""

    conversation_id: str
    model: str
    text: str
    citations: list[CitationBody]
    tool_calls: list[ToolCallBody]
    usage: Usage
    confirmations: list[ConfirmationBody] = Field(description="Changes that wait for your word.")
    notices: list[NoticeBody]
    stopped: bool = Field(description="Whether you stopped it before it was whole.")
