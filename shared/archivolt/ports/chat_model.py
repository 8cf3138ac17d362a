"""The language model behind a turn (S3)."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

from archivolt.domain.providers import WireFormat
from archivolt.domain.text_size import utf8_size
from archivolt.domain.tool import Declaration, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelToolCall:
    """A call the model asks for. `arguments` is the raw JSON text the model wrote."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelImage:
    """An image that a person shows; `data` is base64."""

    media_type: str
    data: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class ModelMessage:
    """One message to or from the model: role is system, user, assistant or tool.

    `reasoning` is what the model thought before its tool calls; some providers want it back.
    `echo` is a turn's own (`ModelTurn.echo`); the message of that turn takes it along unchanged.
    """

    role: str
    text: str = ""
    tool_calls: tuple[ModelToolCall, ...] = ()
    tool_call_id: str = ""
    reasoning: str = ""
    echo: str = ""
    images: tuple[ModelImage, ...] = ()

    @cached_property
    def size(self) -> int:
        """How many bytes of text it has, with its calls and without its images."""
        size = utf8_size(self.text)
        for text in (self.reasoning, self.echo, self.tool_call_id):
            # Nearly always empty: a turn measures some hundred messages.
            if text:
                size += utf8_size(text)
        for call in self.tool_calls:
            size += utf8_size(call.id) + utf8_size(call.name) + utf8_size(call.arguments)
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer.

    `unseen`: so many bytes came besides that nobody is shown, such as thoughts and calls; text that
    was held back until now is taken off again.
    """

    text: str
    unseen: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """The end of one model call, complete.

    `finish_reason`: stop, tool_calls, length, filtered, malformed (a call that the provider itself
    could not read), paused (the provider wants to go on; no loop sees it).
    `tool_calls` is empty when the model was cut off inside one: a truncated call never runs.
    `sources` are the `vault://` URIs the text stands on, None from a model that does not say.
    `echo` is what the provider wants back with this turn, such as the signatures of thoughts; only
    the adapter that wrote it reads it. It refers to `tool_calls` by their places.
    `asked` is False for a turn that no provider was asked for.
    """

    text: str
    tool_calls: tuple[ModelToolCall, ...] = ()
    finish_reason: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning: str = ""
    sources: tuple[str, ...] | None = None
    echo: str = ""
    asked: bool = True


ModelEvent = TextDelta | ModelTurn
Again = Callable[["ModelRequest", ModelTurn | None], Awaitable[None]]
"""Takes what is sent to a provider once more, and what came before it, None for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What is sent to a model. `language` is en or fr.

    With `answer_only` the tools stay declared (past calls refer to them) but may not be called.
    `again` is awaited before one call asks its provider once more, unless that refused or was not
    reached: nothing is sent before it returns, and what it raises ends the call.
    """

    messages: Sequence[ModelMessage]
    model: str
    max_tokens: int
    tools: Sequence[Declaration] = ()
    answer_only: bool = False
    language: str = "en"
    again: Again | None = field(default=None, repr=False, compare=False)


class UnsentError(Exception):
    """A request could not be written, its cause says why: nothing left for a provider."""


class ChatModel(Protocol):
    """Answers a list of messages, streaming."""

    def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield `TextDelta`s, then exactly one `ModelTurn`, which is last.

        Closing the generator early ends the call.

        Raises:
            UnavailableError: `provider_unavailable`, `provider_busy`.
            InvalidRequestError: `provider_refused`: the provider rejects the request; what of it,
                where that is known: `provider_key_refused`, `provider_model_unknown`,
                `provider_credit_spent`.
            UnsentError: The request cannot be written.

        """
        ...


class ChatProvider(ChatModel, Protocol):
    """A model of a provider, and what is particular to the provider (S3)."""

    def convert_mcp_tool(self, tool: Mapping[str, Any]) -> JsonObject:
        """Return the provider's declaration of an MCP tool (`name, description, inputSchema`)."""
        ...

    def extract_tool_calls(self, answer: JsonObject) -> tuple[ModelToolCall, ...]:
        """Return the calls in a whole answer of the provider, one that was not streamed."""
        ...

    def estimate_cost(self, input_tokens: int, output_tokens: int, model: str) -> Decimal:
        """Return what a call costs, in US dollars.

        Raises:
            InvalidRequestError: `model_price_unknown`: never free (decision 23).

        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConnection:
    """How to reach a provider; `key` is plaintext that lives for one request (S11)."""

    provider: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    wire_format: WireFormat = WireFormat.OPENAI


class ChatModels(Protocol):
    """Opens models by their provider."""

    def embedded(self) -> ChatProvider:
        """Return the model that needs no provider."""
        ...

    def connect(self, connection: ProviderConnection) -> ChatModel:
        """Return the model behind an endpoint, in its wire format; nothing is sent yet."""
        ...
