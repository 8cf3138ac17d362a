"""The events of a chat turn as the outside sees them (S33, decision 5).

Names and fields are a contract with every client: add to them, do not change them. How an event is
written on the wire is not known here.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import ClassVar

from archivolt.domain.conversation import Citation
from archivolt.domain.tool import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStart:
    """The turn was accepted; `model` is the one that will answer."""

    event: ClassVar[str] = "message_start"
    conversation_id: str
    model: str

    def payload(self) -> JsonObject:
        """Return the event's fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillChosen:
    """The model follows a method in this turn (L20)."""

    event: ClassVar[str] = "skill"
    name: str
    title: str

    def payload(self) -> JsonObject:
        """Return the event's fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentDelta:
    """The next piece of the answer."""

    event: ClassVar[str] = "content_delta"
    text: str

    def payload(self) -> JsonObject:
        """Return the event's fields."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUseStart:
    """A tool starts to run."""

    event: ClassVar[str] = "tool_use_start"
    tool_name: str
    tool_id: str

    def payload(self) -> JsonObject:
        """Return the event's fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUseResult:
    """A tool has run; `status` is `success`, `error` or `declined`, `summary` is for a person.

    `uris` are the places of the vaults that it is about, to be opened (O65).
    """

    event: ClassVar[str] = "tool_use_result"
    tool_id: str
    status: str
    summary: str
    uris: tuple[str, ...] = ()

    def payload(self) -> JsonObject:
        """Return the event's fields."""
        return asdict(self) | {"uris": list(self.uris)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationRequired:
    """A change is proposed: nothing is made before a person gives the token back (decision 5).

    With a `question` a tool of an MCP server asks something: the token goes back with the answers.
    """

    event: ClassVar[str] = "confirmation_required"
    confirmation_token: str
    tool_id: str
    tool_name: str
    preview: JsonObject
    expires_at: datetime
    question: JsonObject | None = None

    def payload(self) -> JsonObject:
        """Return the event's fields; `question` only where there is one."""
        fields = asdict(self) | {"expires_at": self.expires_at.isoformat()}
        return fields if self.question else {k: v for k, v in fields.items() if k != "question"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Citations:
    """The passages that the answer stands on; comes before `message_end`, if there are any."""

    event: ClassVar[str] = "citations"
    items: tuple[Citation, ...]

    def payload(self) -> JsonObject:
        """Return the event's fields."""
        return {"items": [asdict(item) for item in self.items]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the reader should know: a degraded part, a brake that stopped the loop."""

    event: ClassVar[str] = "notice"
    code: str
    message: str

    def payload(self) -> JsonObject:
        """Return the event's fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The turn failed after its first byte; nothing of it is kept as an answer."""

    event: ClassVar[str] = "error"
    code: str
    message: str

    def payload(self) -> JsonObject:
        """Return the event's fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEnd:
    """Closes every turn. Tokens are those of all model calls; `tool_calls` is a count.

    `stopped`: the person ended the answer before it was whole.
    """

    event: ClassVar[str] = "message_end"
    input_tokens: int
    output_tokens: int
    tool_calls: int
    stopped: bool = False

    def payload(self) -> JsonObject:
        """Return the event's fields; `stopped` only where it was."""
        fields = asdict(self)
        return fields if self.stopped else {k: v for k, v in fields.items() if k != "stopped"}


StreamEvent = (
    MessageStart
    | SkillChosen
    | ContentDelta
    | ToolUseStart
    | ToolUseResult
    | ConfirmationRequired
    | Citations
    | Notice
    | Failure
    | MessageEnd
)
