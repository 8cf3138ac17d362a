"""Language models that say what a test scripted."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from archivolt.adapters.extractive.chat_model import ExtractiveChatModel
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
