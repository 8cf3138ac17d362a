"""The wire format of OpenAI's chat completions, which most providers speak (S4)."""

from collections.abc import Mapping
from typing import Any

from archivolt.adapters.openai.assembler import CompletionAssembler, whole_completion
from archivolt.adapters.openai.dialects import Dialect, shortened
from archivolt.adapters.openai.wire import completion_request
from archivolt.adapters.streaming.json_values import an_object
from archivolt.domain.providers import PRESETS
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelRequest

MAX_REMEMBERED_MODELS = 100

_PATH = "/chat/completions"


class OpenAIFormat:
    """A `ProviderFormat`; it remembers how the models of one address want to be asked."""

    def __init__(self) -> None:
        self._dialects: dict[str, Dialect] = {}

    def url(self, base_url: str, model: str) -> str:  # noqa: ARG002  the body names it
        """Return the address of completions; the base may be that already."""
        base = base_url.rstrip("/")
        return base if base.endswith(_PATH) else f"{base}{_PATH}"

    def models_url(self, base_url: str) -> str:
        """Return the address of the list of models, of OpenRouter that of the key."""
        base = base_url.rstrip("/").removesuffix(_PATH)
        # Its list of models is public.
        return f"{base}/key" if base == PRESETS["openrouter"].base_url else f"{base}/models"

    def headers(self, key: str) -> dict[str, str]:
        """Return what proves the caller."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, request: ModelRequest) -> JsonObject:
        """Return what is sent."""
        dialect = self._dialects.get(request.model, Dialect())
        return dialect.spoken(completion_request(request))

    def adapted(self, body: Mapping[str, Any], complaint: str) -> JsonObject | None:
        """Return the body as this provider takes it."""
        if (shorter := shortened(body, complaint)) is not None:
            return shorter
        model = body["model"]
        known = self._dialects.get(model, Dialect())
        learned = known.learned(complaint)
        adapted = learned.spoken(body)
        if adapted == body:
            return None
        if len(self._dialects) < MAX_REMEMBERED_MODELS:
            self._dialects[model] = learned
        return adapted

    def declaration(self, tool: Mapping[str, Any]) -> JsonObject:
        """Return an MCP tool as a function declaration."""
        return {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool.get("description", ""),
                "parameters": tool.get("inputSchema") or {"type": "object", "properties": {}},
            },
        }

    def assembler(self) -> CompletionAssembler:
        """Return a fresh assembler."""
        return CompletionAssembler()

    def chunks(self, answer: object) -> list[JsonObject]:
        """Return a whole completion as one chunk."""
        return [whole_completion(an_object(answer))]
