"""What travels with a request from the door to the handlers, and how handlers call tools."""

from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

from archivolt.domain.identity import Principal
from archivolt.domain.messages import Language
from archivolt.domain.tool import JsonObject, Surface
from archivolt.tools.pipeline import ToolPipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is calling, and the language they read."""

    principal: Principal
    language: Language

    def call(self, pipeline: ToolPipeline, tool: str, arguments: JsonObject) -> JsonObject:
        """Return a tool's result.

        Raises:
            ArchivoltError: Whatever the pipeline or the tool refuses.

        """
        result = pipeline.call(
            self.principal, tool, arguments, surface=Surface.MCP, language=self.language
        )
        return result.value


RequestContext = ServerRequestContext[Any, Caller]


def caller_of(context: RequestContext) -> Caller:
    """Return the caller the door let through."""
    if context.request is None:
        raise RuntimeError("a request reached a handler without a caller")
    return context.request
