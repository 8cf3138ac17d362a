"""The wire format of Gemini's `streamGenerateContent`."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from archivolt.adapters.gemini.assembler import ContentAssembler
from archivolt.adapters.gemini.schemas import gemini_schema
from archivolt.adapters.gemini.wire import content_request
from archivolt.adapters.streaming.json_values import an_object, objects
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelRequest


class GeminiFormat:
    """A `ProviderFormat`."""

    def url(self, base_url: str, model: str) -> str:
        """Return the address of a model's streamed answers; the base may be a bare host."""
        named = quote(model.removeprefix("models/"), safe="")
        return f"{_base(base_url)}/models/{named}:streamGenerateContent?alt=sse"

    def models_url(self, base_url: str) -> str:
        """Return the address of the shortest list of models."""
        return f"{_base(base_url)}/models?pageSize=1"

    def headers(self, key: str) -> dict[str, str]:
        """Return what proves the caller: never in the address, which is logged."""
        return {"x-goog-api-key": key} if key else {}

    def body(self, request: ModelRequest) -> JsonObject:
        """Return what is sent."""
        return content_request(request, self.declaration)

    def adapted(self, body: Mapping[str, Any], complaint: str) -> JsonObject | None:  # noqa: ARG002
        """Return None: nothing here is known to be refused by some."""
        return None

    def declaration(self, tool: Mapping[str, Any]) -> JsonObject:
        """Return an MCP tool as a function declaration; without arguments it has no schema."""
        schema = gemini_schema(an_object(tool.get("inputSchema")))
        declared = {"name": tool["name"], "description": tool.get("description", "")}
        return {**declared, "parameters": schema} if schema else declared

    def assembler(self) -> ContentAssembler:
        """Return a fresh assembler."""
        return ContentAssembler()

    def chunks(self, answer: object) -> list[JsonObject]:
        """Return an answer that was not streamed: one object, or a list of them."""
        return objects(answer) or [an_object(answer)]


def _base(base_url: str) -> str:
    base = base_url.rstrip("/")
    return base if urlsplit(base).path else f"{base}/v1beta"
