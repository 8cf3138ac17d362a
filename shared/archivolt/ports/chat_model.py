"""The language model behind a turn (S3)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelToolCall:
    """A call the model asks for. `arguments` is the raw JSON text the model wrote."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMessage:
    """One message to or from the model: role is system, user, assistant or tool."""

    role: str
    text: str = ""
    tool_calls: tuple[ModelToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """The end of one model call, complete. `finish_reason`: stop, tool_calls, length, filtered.

    `tool_calls` is empty when the model was cut off inside one: a truncated call never runs.
    """

    text: str
    tool_calls: tuple[ModelToolCall, ...] = ()
    finish_reason: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0


ModelEvent = TextDelta | ModelTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What is sent to a model. `tools` are OpenAI function declarations; `language` is en or fr."""

    messages: Sequence[ModelMessage]
    model: str
    max_tokens: int
    tools: Sequence[Mapping[str, Any]] = field(default=())
    language: str = "en"


class ChatModel(Protocol):
    """Answers a list of messages, streaming."""

    def create_message(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield `TextDelta`s, then exactly one `ModelTurn`, which is last.

        Raises:
            UnavailableError: `provider_unavailable`.
            InvalidRequestError: `provider_refused`: the provider rejects the request.

        """
        ...
