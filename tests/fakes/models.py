"""Language models that say what a test scripted."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from decimal import Decimal

from archivolt.adapters.extractive.chat_model import ExtractiveChatModel
from archivolt.adapters.models.table import ModelTable
from archivolt.domain.usage import ModelPrice
from archivolt.ports.chat_model import (
    ChatModel,
    ChatProvider,
    ModelEvent,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    ProviderConnection,
    TextDelta,
)


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A turn of the script that begins, then waits for the test before it ends."""

    says: str = "…"
    started: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)


def calling(name: str, text: str = "", **arguments: object) -> ModelTurn:
    """Return a turn that calls one tool."""
    call = ModelToolCall(id="", name=name, arguments=json.dumps(arguments))
    return ModelTurn(text=text, tool_calls=(call,), finish_reason="tool_calls")


def counted(turn: ModelTurn, input_tokens: int, output_tokens: int) -> ModelTurn:
    """Return a turn whose provider says what it used."""
    return replace(turn, input_tokens=input_tokens, output_tokens=output_tokens)


class ScriptedModel:
    """A `ChatModel` that gives its script turn by turn, the last one again and again."""

    def __init__(self, *script: ModelTurn | Exception | Wait) -> None:
        self._script = list(script)
        self.requests: list[ModelRequest] = []

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        turn = self._script[min(len(self.requests), len(self._script)) - 1]
        if isinstance(turn, Exception):
            yield TextDelta(text="half an answer")
            raise turn
        if isinstance(turn, Wait):
            yield TextDelta(text=turn.says)
            turn.started.set()
            await turn.go_on.wait()
            turn = ModelTurn(text=turn.says)
        else:
            middle = len(turn.text) // 2
            for piece in (turn.text[:middle], turn.text[middle:]):
                yield TextDelta(text=piece)
        yield turn


class PricedModels(ModelTable):
    """The table of models, where every model has a price."""

    def price(self, provider: str, model: str) -> ModelPrice:
        return ModelPrice(input=Decimal(1), output=Decimal(2))


class RepeatableModel(ScriptedModel):
    """Gives its script by how often it has answered before: asked again, it answers the same."""

    def __init__(self, *script: ModelTurn) -> None:
        super().__init__()
        self._turns = script

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        said = sum(message.role == "assistant" for message in request.messages)
        turn = self._turns[min(said, len(self._turns) - 1)]
        yield TextDelta(text=turn.text)
        yield turn


class ScriptedModels:
    """`ChatModels` where every provider is the same scripted model."""

    def __init__(self, model: ChatModel | None = None) -> None:
        self.model = model or ScriptedModel(ModelTurn(text="Hello."))
        self.connections: list[ProviderConnection] = []

    def embedded(self) -> ChatProvider:
        return ExtractiveChatModel()

    def connect(self, connection: ProviderConnection) -> ChatModel:
        self.connections.append(connection)
        return self.model
