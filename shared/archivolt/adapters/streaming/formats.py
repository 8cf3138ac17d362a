"""What a wire format has to say for itself, and how an answer in it can fail."""

from collections.abc import Mapping
from typing import Any, Protocol

from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelRequest, ModelTurn


class ReportedError(Exception):
    """The provider reports an error within a stream that began well (HTTP 200)."""

    def __init__(self, report: JsonObject) -> None:
        self.report = report
        super().__init__("reported in the stream")


class BrokenTurnError(Exception):
    """The stream ended before the turn did, or a call has no name: nothing of it may run."""


class TurnAssembler(Protocol):
    """Takes the chunks of one turn in order."""

    @property
    def ended(self) -> bool:
        """Whether a chunk said that nothing follows it."""
        ...

    @property
    def finished(self) -> bool:
        """Whether the turn has its reason to end; counts may follow, and an end marker."""
        ...

    @property
    def unseen(self) -> int:
        """How many bytes came so far that are not shown: thoughts, calls, what is held back."""
        ...

    def feed(self, chunk: JsonObject) -> str:
        """Take a chunk and return the text that can be shown now.

        Raises:
            ReportedError: The chunk is an error.

        """
        ...

    def close(self) -> str:
        """Return the text that was held back until the end was known."""
        ...

    def turn(self, *, ended: bool) -> ModelTurn:
        """Return the whole turn; `ended` tells that the stream's own end marker was read.

        Raises:
            ReportedError: The provider says that it failed.
            BrokenTurnError: The turn has no end, or a call has no name.

        """
        ...


class ProviderFormat(Protocol):
    """Requests and answers of one wire format; knows no HTTP."""

    def url(self, base_url: str, model: str) -> str:
        """Return where a request for a model goes."""
        ...

    def models_url(self, base_url: str) -> str:
        """Return what says something to those alone who have a key, and costs nothing."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """Return what the format asks for, and what proves the caller; `key` may be empty."""
        ...

    def body(self, request: ModelRequest) -> JsonObject:
        """Return what is sent."""
        ...

    def adapted(self, body: Mapping[str, Any], complaint: str) -> JsonObject | None:
        """Return the body as this provider takes it, None when the complaint is another."""
        ...

    def declaration(self, tool: Mapping[str, Any]) -> JsonObject:
        """Return the format's declaration of an MCP tool (`name, description, inputSchema`)."""
        ...

    def assembler(self) -> TurnAssembler:
        """Return a fresh assembler."""
        ...

    def chunks(self, answer: object) -> list[JsonObject]:
        """Return an answer that was not streamed, though asked for, as chunks."""
        ...
