"""`ChatModels`: the embedded model, and any OpenAI-compatible endpoint over the guarded client."""

from collections.abc import Callable

import httpx2

from archivolt.ports.chat_model import ChatModel, ProviderConnection


class OutboundChatModels:
    """Opens models; what a model needs is imported when it is first asked for."""

    def __init__(self, client: Callable[[], httpx2.AsyncClient]) -> None:
        self._client = client

    def embedded(self) -> ChatModel:
        """Return the model that needs no provider."""
        from archivolt.adapters.extractive.chat_model import ExtractiveChatModel  # noqa: PLC0415

        return ExtractiveChatModel()

    def connect(self, connection: ProviderConnection) -> ChatModel:
        """Return the model behind an OpenAI-compatible endpoint; nothing is sent yet."""
        from archivolt.adapters.openai.chat_model import OpenAIChatModel  # noqa: PLC0415

        return OpenAIChatModel(
            self._client(),
            provider=connection.provider,
            base_url=connection.base_url,
            key=connection.key,
        )
