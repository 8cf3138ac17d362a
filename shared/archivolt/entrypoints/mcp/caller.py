"""What travels with a request from the door to the handlers, and how handlers call tools."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext
from pydantic import Field

from archivolt.domain.errors import RateLimitedError
from archivolt.domain.identity import Principal
from archivolt.domain.messages import Language
from archivolt.domain.tool import JsonObject, Surface
from archivolt.tools.arguments import read_arguments
from archivolt.tools.pipeline import ToolPipeline
from archivolt.tools.schemas import ToolInput


class ApplyChange(ToolInput):
    """Arguments of every `apply_<tool>`."""

    confirmation_token: str = Field(
        min_length=1, description="The token that propose gave, exactly as it was given."
    )


@dataclass(slots=True, kw_only=True)
class Caller:
    """Who is calling, and the language they read.

    `to_wait`: for how many seconds they called too often, 0 unless they did.
    """

    principal: Principal
    language: Language
    to_wait: int = 0

    def call(self, pipeline: ToolPipeline, tool: str, arguments: JsonObject) -> JsonObject:
        """Return a tool's result.

        Raises:
            ArchivoltError: Whatever the pipeline or the tool refuses.

        """
        with self._heeding():
            result = pipeline.call(
                self.principal, tool, arguments, surface=Surface.MCP, language=self.language
            )
        return result.value

    def propose(self, pipeline: ToolPipeline, tool: str, arguments: JsonObject) -> JsonObject:
        """Return the preview of a change and the token that confirms it.

        Raises:
            ArchivoltError: Whatever the pipeline or the tool refuses.

        """
        with self._heeding():
            proposed = pipeline.propose(
                self.principal, tool, arguments, surface=Surface.MCP, language=self.language
            )
        return proposed.answer.model_dump(mode="json")

    def apply(
        self,
        pipeline: ToolPipeline,
        tool: str,
        arguments: JsonObject,
        *,
        asked: bool = False,
        waits: bool = False,
    ) -> JsonObject:
        """Return the result of a change whose token is the only argument.

        `asked`: the person has just agreed, in a form of their client; `waits`: they were sent to
        the page on which they agree.

        Raises:
            ArchivoltError: Whatever the pipeline or the tool refuses.

        """
        given = read_arguments(ApplyChange, arguments, self.language)
        with self._heeding():
            result = pipeline.apply(
                self.principal,
                tool,
                given.confirmation_token,
                surface=Surface.MCP,
                language=self.language,
                asked=asked,
                waits=waits,
            )
        return result.value

    def decline(self, pipeline: ToolPipeline, tool: str, token: str) -> None:
        """Make sure that a proposed change is never made.

        Raises:
            ArchivoltError: Whatever the pipeline refuses.

        """
        with self._heeding():
            pipeline.decline(self.principal, tool, token, surface=Surface.MCP)

    @contextmanager
    def _heeding(self) -> Generator[None, None, None]:
        """Remember for how long the caller is to wait, whoever tells them of it."""
        try:
            yield
        except RateLimitedError as error:
            seconds = error.details.get("retry_after")
            self.to_wait = seconds if isinstance(seconds, int) else 0
            raise


RequestContext = ServerRequestContext[Any, Caller]


def caller_of(context: RequestContext) -> Caller:
    """Return the caller the door let through."""
    if context.request is None:
        raise RuntimeError("a request reached a handler without a caller")
    return context.request
