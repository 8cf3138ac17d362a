"""The wire format of Anthropic's Messages API."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from archivolt.adapters.anthropic.assembler import MessageAssembler
from archivolt.adapters.anthropic.wire import message_request
from archivolt.adapters.streaming.json_values import an_object
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelRequest

MAX_REMEMBERED_MODELS = 100

_PATH = "/messages"
_VERSION = "2023-06-01"
_TOO_MANY_TOKENS = re.compile(r"max_tokens: \d+ > (\d{2,7})")
_NO_ROOM = re.compile(r"context limit: (\d{1,8}) \+ \d{1,8} > (\d{1,8})")
_LEAST_ANSWER = 256


class AnthropicFormat:
    """A `ProviderFormat`; it remembers how much the models of one address write at most."""

    def __init__(self) -> None:
        self._most: dict[str, int] = {}

    def url(self, base_url: str, model: str) -> str:  # noqa: ARG002  the body names it
        """Return the address of messages; the base may be that already, or a bare host."""
        base = base_url.rstrip("/")
        if base.endswith(_PATH):
            return base
        return f"{_versioned(base)}{_PATH}"

    def models_url(self, base_url: str) -> str:
        """Return the address of the shortest list of models."""
        return f"{_versioned(base_url.rstrip('/').removesuffix(_PATH))}/models?limit=1"

    def headers(self, key: str) -> dict[str, str]:
        """Return what proves the caller, and the version that is spoken."""
        version = {"anthropic-version": _VERSION}
        return {"x-api-key": key, **version} if key else version

    def body(self, request: ModelRequest) -> JsonObject:
        """Return what is sent."""
        body = message_request(request, self.declaration)
        most = self._most.get(request.model, request.max_tokens)
        return body | {"max_tokens": min(request.max_tokens, most)}

    def adapted(self, body: Mapping[str, Any], complaint: str) -> JsonObject | None:
        """Return the body with fewer tokens, where a model writes less than a tenant allows.

        So it is, for one request, where its window has no room for so many.
        """
        if full := _NO_ROOM.search(complaint):
            room = int(full[2]) - int(full[1])
            fits = _LEAST_ANSWER <= room < body["max_tokens"]
            return {**body, "max_tokens": room} if fits else None
        limit = _TOO_MANY_TOKENS.search(complaint)
        if not limit or int(limit[1]) >= body["max_tokens"]:
            return None
        if len(self._most) < MAX_REMEMBERED_MODELS:
            self._most[body["model"]] = int(limit[1])
        return {**body, "max_tokens": int(limit[1])}

    def declaration(self, tool: Mapping[str, Any]) -> JsonObject:
        """Return an MCP tool as Anthropic declares it."""
        schema = an_object(tool.get("inputSchema"))
        return {
            "name": tool["name"],
            "description": tool.get("description", ""),
            "input_schema": {"type": "object", **schema},
        }

    def assembler(self) -> MessageAssembler:
        """Return a fresh assembler."""
        return MessageAssembler()

    def chunks(self, answer: object) -> list[JsonObject]:
        """Return a whole message as one event."""
        return [an_object(answer)]


def _versioned(base: str) -> str:
    return base if urlsplit(base).path else f"{base}/v1"
