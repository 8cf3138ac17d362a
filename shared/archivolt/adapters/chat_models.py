"""`ChatModels`: the embedded model, and endpoints of every wire format over the guarded client."""

from typing import TYPE_CHECKING

from archivolt.adapters.streaming.formats import ProviderFormat
from archivolt.domain.providers import WireFormat
from archivolt.ports.chat_model import ChatProvider, ProviderConnection
from archivolt.ports.model_catalogue import ModelCatalogue

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2


class OutboundChatModels:
    """Opens models; what a model needs is imported when it is first asked for."""

    def __init__(
        self, client: "Callable[[], httpx2.AsyncClient]", catalogue: ModelCatalogue
    ) -> None:
        self._client = client
        self._catalogue = catalogue
        self._toolless: dict[tuple[str, str], set[str]] = {}
        # A format learns how the models of an address want to be asked.
        self._formats: dict[tuple[WireFormat, str], ProviderFormat] = {}

    def embedded(self) -> ChatProvider:
        """Return the model that needs no provider."""
        from archivolt.adapters.extractive.chat_model import ExtractiveChatModel  # noqa: PLC0415  if asked

        return ExtractiveChatModel()

    def connect(self, connection: ProviderConnection) -> ChatProvider:
        """Return the model behind an endpoint, in its wire format; nothing is sent yet."""
        from archivolt.adapters.streaming.model import StreamedChatModel  # noqa: PLC0415  if asked
        from archivolt.adapters.text_actions.model import ToolFallback  # noqa: PLC0415  if asked

        place = (connection.wire_format, connection.base_url)
        wire = self._formats.setdefault(place, provider_format(connection.wire_format))
        model = StreamedChatModel(self._client(), wire, connection, self._catalogue)
        toolless = self._toolless.setdefault((connection.provider, connection.base_url), set())
        return ToolFallback(model, toolless)


def provider_format(wire_format: WireFormat) -> ProviderFormat:
    """Return how a format is written and read."""
    match wire_format:
        case WireFormat.ANTHROPIC:
            from archivolt.adapters.anthropic.format import AnthropicFormat  # noqa: PLC0415  if asked

            return AnthropicFormat()
        case WireFormat.GEMINI:
            from archivolt.adapters.gemini.format import GeminiFormat  # noqa: PLC0415  if asked

            return GeminiFormat()
        case WireFormat.OPENAI:
            from archivolt.adapters.openai.format import OpenAIFormat  # noqa: PLC0415  if asked

            return OpenAIFormat()
