"""The language model behind a turn (S3)."""

from collections.abc import AsyncGenerator, Mapping, Sequence
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
    """One message to or from the model: role is system, user, assistant or tool.

    `reasoning` is what the model thought before its tool calls; some providers want it back.
    """

    role: str
    text: str = ""
    tool_calls: tuple[ModelToolCall, ...] = ()
    tool_call_id: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """The end of one model call, complete. `finish_reason`: stop, tool_calls, length, filtered.

    `tool_calls` is empty when the model was cut off inside one: a truncated call never runs.
    `sources` are the `vault://` URIs the text stands on, None from a model that does not say.
    """

    text: str
    tool_calls: tuple[ModelToolCall, ...] = ()
    finish_reason: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning: str = ""
    sources: tuple[str, ...] | None = None


ModelEvent = TextDelta | ModelTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What is sent to a model. `tools` are OpenAI function declarations; `language` is en or fr.

    With `answer_only` the tools stay declared (past calls refer to them) but may not be called.
    """

    messages: Sequence[ModelMessage]
    model: str
    max_tokens: int
    tools: Sequence[Mapping[str, Any]] = field(default=())
    answer_only: bool = False
    language: str = "en"


class ChatModel(Protocol):
    """Answers a list of messages, streaming."""

    def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield `TextDelta`s, then exactly one `ModelTurn`, which is last.

        Closing the generator early ends the call.

        Raises:
            UnavailableError: `provider_unavailable`.
            InvalidRequestError: `provider_refused`: the provider rejects the request.

        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConnection:
    """How to reach a provider; `key` is plaintext that lives for one request (S11)."""

    provider: str
    base_url: str = ""
    key: str = field(default="", repr=False)


class ChatModels(Protocol):
    """Opens models by their provider."""

    def embedded(self) -> ChatModel:
        """Return the model that needs no provider."""
        ...

    def connect(self, connection: ProviderConnection) -> ChatModel:
        """Return the model behind an OpenAI-compatible endpoint; nothing is sent yet."""
        ...
